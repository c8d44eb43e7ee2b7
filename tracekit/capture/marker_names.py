"""Names of trace markers: the ELF section ``.sqtt_funcmap``.

ASCII rows split by newline or NUL; those that name a marker id are
``F:id:name[@loc]`` (function), ``U:id:name`` (user scope) and ``P:id:name[@loc]`` (point).
"""

from __future__ import annotations

import re

_ROW = re.compile(r"[FUP]:([0-9]{1,10}):(.*)$")
#: Ids have 30 bits in a marker's value.
_ID_LIMIT = 1 << 30


def marker_names(text: str) -> dict[int, str]:
    """Id -> name of the rows of a funcmap; of rows that repeat an id the last one counts.

    Malformed rows are skipped.
    """
    names: dict[int, str] = {}
    for row in re.split(r"[\n\0]", text):
        found = _ROW.match(row.rstrip())
        if found and int(found[1]) < _ID_LIMIT:
            names[int(found[1])] = found[2].split("@")[0].rstrip()
    return names
