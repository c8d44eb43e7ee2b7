"""What rocprofv3's file names say."""

from __future__ import annotations

import re

from tracekit.capture.archive import Place

_STREAM = re.compile(
    r"(?:(.*)_)?(\d{1,18})_shader_engine_(\d{1,4})_(\d{1,9})\.att(?:\.gz)?$", re.ASCII
)
_DECODED = re.compile(r"(?:.*_)?agent_(\d{1,18})_dispatch_(\d{1,18})", re.ASCII)
_CODE_OBJECT = re.compile(r"(?:(.*?)_)??(?:gfx[0-9a-f]+_)?code_object_id_(\d{1,9})\.out$", re.ASCII)
#: Files of one traced process, behind its prefix (by default its number).
_OF_PROCESS = re.compile(r"(?:(.*)_)?(?:agent_info\.csv|kernel_trace\.csv|results\.(?:json|db))$")


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
    return None if found is None else int(found[2])


def process_of(path: Place) -> str:
    """Prefix of a file that rocprofv3 writes for each process; "" where there is none."""
    for pattern in (_OF_PROCESS, _CODE_OBJECT):
        if found := pattern.match(path.name):
            return found[1] or ""
    return ""


def same_process(one: str, other: str) -> bool | None:
    """Whether two prefixes are of one process; None when they do not tell.

    A number and a word may be two names of one process (rocprofv3 -o); two numbers, or two
    words, are not.
    """
    if not one or not other:
        return None
    if one == other:
        return True
    return False if one.isdigit() == other.isdigit() else None
