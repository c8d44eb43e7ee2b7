"""Software packets: words that ROCm writes to SQ_THREAD_TRACE_USERDATA_2 and _3.

Each function returns the data words of the register writes, in the order aqlprofile
uses.  Sources: aqlprofile (MIT), and the streams of ``wave_gemm_bf16_gfx950``, where
code object 3 at 0x7f081dc6a000, 0x3000 bytes, loaded before the trace, is::

    204 1dc6a000   ADDR_LO          104 3000   SIZE_LO        4 e   TAIL: id 3, from start
    304 7f08       ADDR_HI          404 0      SIZE_HI
"""

from __future__ import annotations

from tracekit.sqtt.layout import (
    CODE_OBJECT_ADDR_HI,
    CODE_OBJECT_ADDR_LO,
    CODE_OBJECT_ID_HI,
    CODE_OBJECT_ID_LO,
    CODE_OBJECT_SIZE_HI,
    CODE_OBJECT_SIZE_LO,
    CODE_OBJECT_TAIL,
    PACKET_AGENT_INFO,
    PACKET_CODE_OBJECT,
    PACKET_REALTIME,
    PACKET_REALTIME_LO32,
    ROC_MARKER,
)

#: Second word of real traces, after ROC_MARKER: the version of the packets.
PACKET_VERSION = 0x00080201
#: Ids from here on do not fit the TAIL word and travel in ID_LO and ID_HI.
FIRST_LONG_ID = 1 << 30

_UNLOAD, _FROM_START = 1, 2
_AGENT_REALTIME_KHZ, _AGENT_COUNTER_INTERVAL = 0, 1
_LOW = 0xFFFFFFFF


def start_marker(version: int = PACKET_VERSION) -> list[int]:
    """USERDATA_2: the ``\\0ROC`` word and the version, once at trace start."""
    return [ROC_MARKER, version]


def agent_info(realtime_khz: int | None = None, counter_interval: int | None = None) -> list[int]:
    """USERDATA_2: frequency of the realtime clock (kHz), and cycles between counter samples."""
    words = []
    if realtime_khz is not None:
        words.append(_packet(PACKET_AGENT_INFO, _AGENT_REALTIME_KHZ, realtime_khz))
    if counter_interval is not None:
        words.append(_packet(PACKET_AGENT_INFO, _AGENT_COUNTER_INTERVAL, counter_interval))
    return words


def code_object_load(
    code_object: int, address: int, size: int, *, from_start: bool = False
) -> list[int]:
    """USERDATA_2: ``code_object`` lies at ``address``; ``from_start``: since before the trace."""
    words = (
        _part(CODE_OBJECT_ADDR_LO, address & _LOW)
        + _part(CODE_OBJECT_ADDR_HI, address >> 32)
        + _part(CODE_OBJECT_SIZE_LO, size & _LOW)
        + _part(CODE_OBJECT_SIZE_HI, size >> 32)
    )
    return words + _tail(code_object, _FROM_START if from_start else 0)


def code_object_unload(code_object: int) -> list[int]:
    """USERDATA_2: ``code_object`` is gone."""
    return _tail(code_object, _UNLOAD)


def realtime_pair(realtime: int, earlier: int | None = None) -> list[int]:
    """USERDATA_3: the 64-bit realtime counter read at the last of the four writes.

    ``earlier`` is the full reading that precedes it (default: the same value); it must
    be less than 2**32 ticks ago.
    """
    before = realtime if earlier is None else earlier
    if not 0 <= realtime - before < 1 << 32:
        raise ValueError(f"{before} is not a reading up to 2**32 ticks before {realtime}")
    return [_packet(PACKET_REALTIME, 0, 0), before & _LOW, before >> 32, realtime & _LOW]


def realtime_low(realtime: int) -> list[int]:
    """USERDATA_3: low half only; readers carry the high half over from the last pair."""
    return [_packet(PACKET_REALTIME_LO32, 0, 0), realtime & _LOW]


def _packet(opcode: int, kind: int, data: int) -> int:
    if not 0 <= data < 1 << 20:
        raise ValueError(f"{data} does not fit the 20 bits of a packet word")
    return opcode | kind << 8 | data << 12


def _part(kind: int, payload: int) -> list[int]:
    return [_packet(PACKET_CODE_OBJECT, kind, 0), payload]


def _tail(code_object: int, flags: int) -> list[int]:
    if code_object < 1:
        raise ValueError(f"code object id {code_object}: ids start at 1")
    if code_object < FIRST_LONG_ID:
        return _part(CODE_OBJECT_TAIL, code_object << 2 | flags)
    return (
        _part(CODE_OBJECT_ID_LO, code_object & _LOW)
        + _part(CODE_OBJECT_ID_HI, code_object >> 32)
        + _part(CODE_OBJECT_TAIL, flags)
    )
