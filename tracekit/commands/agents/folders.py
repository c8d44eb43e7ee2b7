"""The folders that an agent may ask about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tracekit.errors import TracekitError


class Refused(TracekitError):
    """A path that lies outside, or is not there."""

    exit_code = 2


class Folders:
    """Resolved ``roots``; relative paths are looked up in each of them."""

    def __init__(self, roots: Sequence[str | Path]) -> None:
        self.roots = tuple(Path(root).resolve() for root in roots)

    def path(self, given: str) -> Path:
        """The resolved path; raises Refused for one outside of the folders, also by a link or
        by a link below it, and for one that is not there."""
        if not given or "\0" in given:
            raise Refused(f"{given!r}: no path")
        named = Path(given)
        candidates = [named] if named.is_absolute() else [root / named for root in self.roots]
        try:
            real = [each.resolve() for each in candidates]
        except (OSError, RuntimeError):
            raise Refused(f"{given}: links in a circle") from None
        within = [each for each in real if self.holds(each)]
        if not within:
            raise Refused(f"{given}: outside of the folders {self.told}")
        found = next((each for each in within if each.exists()), None)
        if found is None:
            raise Refused(f"{given}: not there, in {self.told}")
        for link in found.rglob("*") if found.is_dir() else ():
            if link.is_symlink() and not self.holds(link.resolve()):
                raise Refused(f"{given}: {link.name} links to outside of the folders {self.told}")
        return found

    def holds(self, real: Path) -> bool:
        """Whether a resolved path lies in one of them."""
        return any(real.is_relative_to(root) for root in self.roots)

    @property
    def told(self) -> str:
        return ", ".join(map(str, self.roots))
