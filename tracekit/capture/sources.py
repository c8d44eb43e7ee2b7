"""Source paths of a listing, moved from the build machine to this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracekit.isa.listing import Listing


def moved(source: str, roots: Mapping[str, str]) -> str:
    """``file:line -> caller:line`` with the longest matching beginning of each path replaced."""
    parts = source.split(" -> ")
    for at, part in enumerate(parts):
        fits = [old for old in roots if part.startswith(old)]
        if fits:
            old = max(fits, key=len)
            parts[at] = roots[old] + part[len(old) :]
    return " -> ".join(parts)


def moved_sources(listing: Listing, roots: Mapping[str, str]) -> Listing:
    """The listing with its sources moved; itself when there is nothing to move."""
    if not roots:
        return listing
    return replace(listing, source=[moved(source, roots) for source in listing.source])
