"""A side of a comparison in a file: a baseline to compare with later, without its captures."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tracekit.analysis.checks.findings import Finding, Quality
from tracekit.analysis.comparison.estimates import Estimate
from tracekit.analysis.comparison.runs import Metric, Origin, Run
from tracekit.analysis.model.bodies import Body
from tracekit.errors import TracekitError
from tracekit.isa.arch import ArchChoice
from tracekit.version import VERSION

SCHEMA = "tracekit.baseline/1"
#: Where a file says that it is a baseline.
_HEAD = 200


def is_saved(path: str | Path) -> bool:
    """Whether ``path`` is a file that says it is a baseline (of any version)."""
    path = Path(path)
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return b'"tracekit.baseline/' in file.read(_HEAD)
    except OSError:
        return False


def payload(runs: Sequence[Run]) -> dict[str, Any]:
    """What is written: a metric is [se, simd, name, value, error, degrees of freedom]."""
    return {"schema": SCHEMA, "tracekit": VERSION, "runs": [entry(run) for run in runs]}


def read(path: str | Path) -> list[Run]:
    """The runs of a baseline; raises TracekitError for a file that is none of this version."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            raise TracekitError(f"{path}: is {content['schema']}, this version reads {SCHEMA}")
        runs = [run_of(each) for each in content["runs"]]
    except OSError as error:
        raise TracekitError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise TracekitError(f"{path}: damaged baseline") from None
    if not runs:
        raise TracekitError(f"{path}: holds no run")
    return runs


def entry(run: Run) -> dict[str, Any]:
    """One run as JSON."""
    origin = asdict(run.origin)
    return {
        **origin,
        "filters": dict(run.origin.filters),
        "findings": [asdict(finding) for finding in run.quality.findings],
        "analysis_notes": list(run.notes),
        "body": asdict(run.body),
        "metrics": [
            [*metric, each.value, None if math.isnan(each.error) else each.error, each.freedom]
            for metric, each in run.metrics.items()
        ],
    }


def run_of(found: Mapping[str, Any]) -> Run:
    """The run that ``entry`` was made of; raises ValueError, KeyError, TypeError or
    AttributeError for anything else."""
    origin = Origin(
        **{name: found[name] for name in ("capture", "kernel", "timing", "window")},
        arch=ArchChoice(**found["arch"]),
        simulated=bool(found["simulated"]),
        synthetic=bool(found["synthetic"]),
        notes=tuple(found["notes"]),
        filters=tuple((str(name), int(value)) for name, value in found["filters"].items()),
    )
    findings = [Finding(**{**each, "blocks": tuple(each["blocks"])}) for each in found["findings"]]
    metrics = {
        Metric(int(se), int(simd), str(name)): Estimate(
            float(value), math.nan if error is None else float(error), float(freedom)
        )
        for se, simd, name, value, error, freedom in found["metrics"]
    }
    body = Body(**{name: tuple(values) for name, values in found["body"].items()})
    if len({len(body.texts), len(body.kinds), len(body.lines), len(body.vaddrs)}) > 1:
        raise ValueError("columns of unequal length")
    return Run(origin, Quality.of(findings), body, metrics, tuple(found["analysis_notes"]))
