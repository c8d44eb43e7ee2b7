"""Flask routes beside Dash's own: the timeline's binary data, look-ups, tables as CSV."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from io import StringIO
from typing import Any

import numpy as np
from flask import Flask, Response, jsonify, request

from dashboard import palette
from dashboard.detail import pack
from dashboard.lanes import Place, bubble_lanes, waves_and_pipes
from dashboard.lookup import (
    Cursor,
    Missing,
    bubble,
    find,
    instruction,
    iteration_starts,
    matching_rows,
    next_bubble,
)
from dashboard.service import Service
from dashboard.sources import excerpts
from dashboard.tables import TABLES
from tracekit.analysis.model.window import DEFAULT
from tracekit.commands.hotspots import write_stats
from tracekit.errors import TracekitError

#: Pixels of the widest screen that is served (8K).
MOST_PIXELS = 8192


class BadRequest(TracekitError):
    """A parameter is missing or is none."""


def add_routes(server: Flask, service: Service) -> None:
    """All routes, below /tk/."""

    def route(path: str, answer: Callable[[Service], Response]) -> None:
        @wraps(answer)
        def view(**_: Any) -> Response:
            try:
                return answer(service)
            except TracekitError as error:
                response = jsonify({"error": str(error)})
                response.status_code = 400
                return response

        server.add_url_rule(path, path, view)

    route("/tk/lanes", _lanes)
    route("/tk/names", _names)
    route("/tk/instruction", _instruction)
    route("/tk/find", _find)
    route("/tk/bubble", _bubble)
    route("/tk/iterations", _iterations)
    route("/tk/source", _source)
    route("/tk/progress", _progress)
    route("/tk/table.csv", _table)


def _text(name: str, default: str | None = None) -> str:
    value = request.args.get(name, default)
    if value is None:
        raise BadRequest(f"parameter {name} is missing")
    if len(value) > 512:
        raise BadRequest(f"parameter {name} is too long")
    return value


def _number(name: str, default: int | None = None) -> int:
    text = _text(name, None if default is None else str(default))
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) < 2**62:
        raise BadRequest(f"parameter {name} is no number: {text!r}")
    return int(value)


def _place(service: Service, key: str) -> Place:
    known = service.places(key)
    if not known:
        raise BadRequest("no instruction was traced")
    wanted = (_number("se", known[0][0]), _number("dispatch", -1))
    for place in known:
        if place == wanted or (wanted[1] < 0 and place[0] == wanted[0]):
            return place
    return known[0]


def _lanes(service: Service) -> Response:
    key, window = _text("capture"), _text("window", DEFAULT)
    place = _place(service, key)
    lanes = list(waves_and_pipes(service, key, place))
    note = ""
    if _number("bubbles", 0):
        try:
            lanes += bubble_lanes(service, key, place, window)
        except TracekitError as error:
            note = str(error)
    own = [lane for lane in lanes if lane.simd >= 0 and len(lane.start)]
    begin = min((int(lane.start[0]) for lane in own), default=0)
    end = max((int(lane.reach[-1]) for lane in own), default=1)
    first, last = _number("from", begin), _number("to", end)
    if last <= first:
        raise BadRequest("the window of the timeline is empty")
    pixels = min(max(_number("pixels", 1400), 1), MOST_PIXELS)
    more: dict[str, object] = {"note": note}
    if "from" not in request.args:  # a part needs no more than its lanes
        more |= {"begin": begin, "end": end, "place": place, **_about(service, key, place)}
    return Response(pack(lanes, first, last, pixels, more), mimetype="application/octet-stream")


def _about(service: Service, key: str, place: Place) -> dict[str, object]:
    """What the timeline tells of a place beside its lanes."""
    waves = service.timeline(key).waves
    there = waves[(waves["se"] == place[0]) & (waves["dispatch"] == place[1])]
    return {
        "places": service.places(key), "looks": palette.looks(),
        "mhz": service.whole(key).clock.mhz, "cu": sorted(set(there["cu"].tolist())),
        "waves": there[["simd", "slot", "wave", "begin", "end"]].to_numpy().tolist()[:4096],
    }  # fmt: skip


def _names(service: Service) -> Response:
    listing = service.timeline(_text("capture")).listing
    return jsonify(
        {"text": listing.text, "vaddr": listing.vaddr.tolist(),
         "object": listing.code_object.tolist()}
    )  # fmt: skip


def _instruction(service: Service) -> Response:
    return _found(lambda: instruction(service.timeline(_text("capture")), _number("index")))


def _found(look_up: Callable[[], dict[str, Any]]) -> Response:
    """What was looked up, or why not: an old link may name what is no more, which is no fault."""
    try:
        return jsonify(look_up())
    except Missing as error:
        return jsonify({"error": str(error)})


def _source(service: Service) -> Response:
    """By address, never by path: the listing alone says what files a line comes from."""
    key = _text("capture")
    rows = matching_rows(service.timeline(key), _text("pc"))
    return jsonify({"frames": excerpts(service, key, int(rows[0])) if len(rows) else []})


def _find(service: Service) -> Response:
    key = _text("capture")
    place = _place(service, key)
    cursor = _cursor(_number("after", -(2**61)))
    return jsonify(find(service.timeline(key), place, _text("text"), cursor))


def _bubble(service: Service) -> Response:
    key = _text("capture")
    place = _place(service, key)
    rows = service.analysis(key, _text("window", DEFAULT)).bubbles.rows
    if "index" in request.args:
        return _found(lambda: bubble(rows, _number("index")))
    return jsonify(next_bubble(rows, place, _cursor(_number("after"))))


def _cursor(after: int) -> Cursor:
    return Cursor(after, -1 if _number("step", 1) < 0 else 1, _number("current", -1))


def _iterations(service: Service) -> Response:
    key = _text("capture")
    return jsonify(
        {
            "starts": iteration_starts(
                service.analysis(key, _text("window", DEFAULT)).causes, _place(service, key)
            )
        }
    )


def _progress(service: Service) -> Response:
    made = service.progress.get(_text("capture"))
    return jsonify(
        {"total": made.total, "done": made.done, "ready": made.ready} if made
        else {"total": 0, "done": 0, "ready": False}
    )  # fmt: skip


def _table(service: Service) -> Response:
    name = _text("name")
    if name not in TABLES:
        raise BadRequest(f"no table {name!r}: one of {', '.join(TABLES)}")
    table = TABLES[name](service, _text("capture"), _text("window", DEFAULT), _text("other", ""))
    # The capture that the rows are of, in front; a comparison's are of the new one.
    of = _text("other", "") if name in ("compare", "bodies") else _text("capture")
    table = table.copy()
    table.insert(0, "capture", service.timeline(of).capture)
    for place in ("se", "dispatch", "simd"):
        if place in request.args and place in table.columns:
            table = table[table[place] == _number(place)]
    if name == "hotspots":
        out = StringIO()
        write_stats(out, [table])  # rocprofv3's own kind of CSV, as the command writes it
        text = out.getvalue()
    else:
        text = table.replace({np.nan: None}).to_csv(index=False, lineterminator="\n")
    return Response(
        text, mimetype="text/csv",
        headers={"Content-Disposition": f'attachment; filename="tracekit-{name}.csv"'},
    )  # fmt: skip
