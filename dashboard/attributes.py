"""Attributes of HTML elements whose names are no Python names: ``data-*`` and ``aria-*``."""

from __future__ import annotations

from typing import Any


def attributes(**values: str) -> dict[str, Any]:
    """``data_goto="..."`` as ``{"data-goto": "..."}``, to be unpacked into a component.

    Components take these names as wildcards, which their signatures do not list: hence Any.
    """
    return {name.replace("_", "-"): value for name, value in values.items()}
