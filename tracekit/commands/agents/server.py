"""The tools behind the official SDK, over stdio."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from tracekit import __version__
from tracekit.commands.agents.folders import Folders
from tracekit.commands.agents.tools import Tools
from tracekit.errors import TracekitError

#: Tools, in the order in which they are listed.
NAMES = ("open", "explain", "waits", "compare", "instructions", "occupancy")


def create(folders: Folders) -> MCPServer[Any]:
    """A server of NAMES."""
    server: MCPServer[Any] = MCPServer(
        "tracekit",
        version=__version__,
        instructions=(
            "Numbers from AMD thread traces (rocprofv3 --att), read-only. Paths lie in: "
            f"{folders.told}. Ask open first and obey its verdict; explain names the causes; "
            "shares are of the denominators in scope; answers are cut where truncated says so."
        ),
        log_level="WARNING",
    )
    tools = Tools(folders)
    for name in NAMES:
        tool = getattr(tools, name)
        server.add_tool(
            _told(tool), name=name, description=" ".join(tool.__doc__.split()),
            annotations=ToolAnnotations(
                read_only_hint=True, idempotent_hint=True, open_world_hint=False
            ),
        )  # fmt: skip
    return server


def _told(tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """What cannot be answered is an error with one line, as on the command line."""

    @wraps(tool)
    def wrapper(*arguments: Any, **options: Any) -> dict[str, Any]:
        try:
            return tool(*arguments, **options)
        except TracekitError as error:
            raise ToolError(str(error)) from None
        except click.ClickException as error:
            raise ToolError(error.format_message()) from None
        except MemoryError:
            raise ToolError("out of memory") from None

    return wrapper
