"""Tokens and the file header as bytes: the reverse of ``layout``.

``pack`` knows nothing of time: ``StreamWriter`` (``writer``) turns timed events into a
whole stream.  A token is one little-endian integer, its type id in bits 0-3::

    pack(Token.INST, simd=3, slot=0, inst_type=Inst.SALU_32)  ->  0a 0e
         bits 11-15 type 1 | 9-10 simd 3 | 5-8 slot 0 | 4 delta 0 | 0-3 id 10
"""

from __future__ import annotations

from tracekit.gfx9 import SIMDS
from tracekit.sqtt.layout import (
    DELTA,
    FIELDS,
    GFX9_VERSIONS,
    HEADER,
    HEADER_BYTES,
    LEGACY_VERSIONS,
    TOKEN_BYTES,
    Field,
    IssueState,
    Token,
)


def token_word(token: Token, **fields: int) -> int:
    """The token as an integer of ``8 * TOKEN_BYTES[token]`` bits.

    ``fields`` are the names of ``layout.FIELDS[token]``, 0 where not given, and ``delta``
    (units of 4 cycles: one bit, 8 bits for MISC, none for TIME).  Bits without a name are 0.
    Raises ValueError for an unknown field and for a value that does not fit.
    """
    known = FIELDS[token]
    word = int(token)
    for name, value in fields.items():
        field = known.get(name)
        if field is None and name == "delta" and token != Token.TIME:
            field = DELTA
        word |= _place(token.name, name, field, value)
    return word


def pack(token: Token, **fields: int) -> bytes:
    """The token as bytes; arguments and errors as ``token_word``."""
    return token_word(token, **fields).to_bytes(TOKEN_BYTES[token], "little")


def issue_states(states: dict[int, IssueState]) -> int:
    """The ``states`` field of an ISSUE token: two bits a wave slot, slot 0 lowest."""
    word = 0
    for slot, state in states.items():
        word |= state << 2 * slot
    return word


def header_bytes(  # noqa: PLR0913 - the fields of the header, by keyword
    *,
    target_cu: int,
    se: int = 0,
    simd_mask: int = (1 << SIMDS) - 1,
    shader_array: int = 0,
    double_buffer: int = 0,
    legacy_version: int = LEGACY_VERSIONS[0],
    gfx9_version2: int = GFX9_VERSIONS[0],
) -> bytes:
    """The 8-byte header; by default with the versions that aqlprofile writes for any GPU.

    Raises ValueError for a value that does not fit its bits.
    """
    values = {
        "legacy_version": legacy_version,
        "gfx9_version2": gfx9_version2,
        "simd_mask": simd_mask,
        "target_cu": target_cu,
        "shader_array": shader_array,
        "se": se,
        "double_buffer": double_buffer,
    }
    word = 0
    for name, value in values.items():
        word |= _place("header", name, HEADER[name], value)
    return word.to_bytes(HEADER_BYTES, "little")


def _place(owner: str, name: str, field: Field | None, value: int) -> int:
    if field is None:
        raise ValueError(f"{owner} has no field {name!r}")
    try:
        return field.place(value)
    except ValueError as error:
        raise ValueError(f"{owner}.{name}: {error}") from None
