"""Answers that are cut to a length, and say how far."""

import json

from tracekit.commands.agents.bounds import bounded


def result(rows, captures=1):
    entry = {"capture": "c", "rows": [{"n": n, "inner": [{"m": n}] * 3} for n in range(rows)]}
    return {"schema": "s/1", "captures": [entry] * captures}


def test_what_fits_is_whole():
    assert bounded(result(3)) == {**result(3), "truncated": {}}


def test_what_does_not_fit_is_cut_and_counted():
    found = bounded(result(1000), 4000)
    assert len(json.dumps(found)) <= 4000
    kept = len(found["captures"][0]["rows"])
    assert 0 < kept < 1000
    assert found["truncated"]["captures.rows"] == {"kept": kept, "of": 1000}
    assert found["captures"][0]["rows"][0] == result(1)["captures"][0]["rows"][0]


def test_lists_inside_of_lists_are_counted_together():
    found = bounded(result(5), 260)
    inner = sum(len(row["inner"]) for row in found["captures"][0]["rows"])
    assert found["truncated"]["captures.rows.inner"]["kept"] == inner


def test_captures_go_last():
    found = bounded(result(2, captures=500), 4000)
    assert len(json.dumps(found)) <= 4000
    assert all(len(each["rows"]) == 1 for each in found["captures"])
    assert found["truncated"]["captures"] == {"kept": len(found["captures"]), "of": 500}


def test_short_lists_of_numbers_stay():
    entry = {"capture": "c", "ses": list(range(12)), "rows": [{"n": n} for n in range(999)]}
    found = bounded({"captures": [entry]}, 400)
    assert found["captures"][0]["ses"] == list(range(12))
