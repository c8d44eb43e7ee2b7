"""Pages as plain data: what needs no Dash component is built by the browser itself.

Dash renders each component at a cost of milliseconds, so a page of tables with thousands
of cells would block the browser for a minute (measured with 128 SIMDs).
"""

from __future__ import annotations

import json
from typing import Any

from dash import html
from dash.development.base_component import Component

from dashboard.attributes import attributes

#: Dash's names of attributes where HTML has another.
_NAMES = {"className": "class", "tabIndex": "tabindex", "colSpan": "colspan"}

#: [tag, attributes, children]; a child is a node or a text.
Node = list[Any]


def lighten(component: Any) -> Any:
    """``component`` with every subtree of mere HTML as one ``data-tree`` (assets/b_page.js)."""
    node = _node(component)
    if node is not None:
        return html.Div(className="tree", **attributes(data_tree=json.dumps(node)))
    if isinstance(component, Component) and type(component).__module__.startswith("dash.html"):
        component.children = [lighten(child) for child in _children(component)]
    return component


def _children(component: Any) -> list[Any]:
    children = getattr(component, "children", None)
    if isinstance(children, list | tuple):
        return [child for child in children if child is not None]
    return [] if children is None else [children]


def _node(component: Any) -> Node | str | None:
    """The subtree as data; None where it holds a component with a behaviour of its own."""
    if isinstance(component, str | int | float):
        return str(component)
    if not type(component).__module__.startswith("dash.html"):
        return None
    children = [_node(child) for child in _children(component)]
    if any(child is None for child in children):
        return None
    told = component.to_plotly_json()
    attributes = {
        _NAMES.get(name, name): _text(value)
        for name, value in told["props"].items()
        if name != "children" and value is not None and value is not False
    }
    return [told["type"].lower(), attributes, children]


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ";".join(f"{name}:{each}" for name, each in value.items())
    return "" if value is True else str(value)
