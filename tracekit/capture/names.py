"""What rocprofv3's file names say."""

from __future__ import annotations

import re

from tracekit.capture.archive import Place

_STREAM = re.compile(r"(?:(.*)_)?(\d+)_shader_engine_(\d+)_(\d+)\.att$")
_DECODED = re.compile(r"(?:.*_)?agent_(\d+)_dispatch_(\d+)")
_CODE_OBJECT = re.compile(r".*code_object_id_(\d+)\.out$")


def stream_ids(path: Place) -> tuple[int, int, int] | None:
    """(agent, se, dispatch) of ``<prefix>_<agent>_shader_engine_<se>_<dispatch>.att``."""
    found = _STREAM.match(path.name)
    return None if found is None else (int(found[2]), int(found[3]), int(found[4]))


def stream_group(path: Place) -> tuple[str, int]:
    """(prefix, agent) of a stream: those of one traced process and GPU share them."""
    found = _STREAM.match(path.name)
    return ("", -1) if found is None else (found[1] or "", int(found[2]))


def decoded_ids(path: Place) -> tuple[int, int] | None:
    """(agent, dispatch) of ``ui_output_agent_<agent>_dispatch_<dispatch>``."""
    found = _DECODED.match(path.name)
    return None if found is None else (int(found[1]), int(found[2]))


def code_object_id(path: Place) -> int | None:
    """Id of ``<prefix>_<gfx>_code_object_id_<id>.out``."""
    found = _CODE_OBJECT.match(path.name)
    return None if found is None else int(found[1])
