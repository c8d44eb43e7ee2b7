"""A number with how far it is known, and the difference of two with its 95 % interval.

Intervals are Student's: of few batches or runs, resampling alone gives too narrow ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom (any statistical
#: table); beyond, their expansion around the normal quantile.
_STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_NORMAL = 1.959964
#: Relative differences below this are of the arithmetic.
_ROUNDING = 1e-12


def student(freedom: float) -> float:
    """The 97.5 % quantile of Student's t; between whole degrees of freedom, interpolated."""
    if freedom < 1:
        return _STUDENT[0]
    below = math.floor(freedom)
    if below >= len(_STUDENT):
        return _NORMAL + (_NORMAL**3 + _NORMAL) / (4 * freedom)
    low, high = _STUDENT[below - 1], _STUDENT[min(below, len(_STUDENT) - 1)]
    return low + (high - low) * (freedom - below)


@dataclass(frozen=True)
class Estimate:
    """``value`` with its standard ``error`` (NaN: not known) on ``freedom`` degrees of freedom."""

    value: float
    error: float
    freedom: float


@dataclass(frozen=True)
class Difference:
    """``new`` - ``base`` with its 95 % interval, and the same of new / base - 1 (None: base is
    0); NaN where an interval is not known."""

    difference: float
    low: float
    high: float
    relative: float | None
    relative_low: float | None
    relative_high: float | None

    @property
    def within_noise(self) -> bool:
        """Whether the two cannot be told apart: the interval contains 0 or is not known."""
        return not (self.low > 0 or self.high < 0)


def difference(base: Estimate, new: Estimate) -> Difference:
    """Welch's interval; that of the quotient by the first order of its error."""
    apart = new.value - base.value
    if abs(apart) <= _ROUNDING * max(abs(new.value), abs(base.value)):
        apart = 0.0
    wide = _half(base.error, base.freedom, new.error, new.freedom)
    if wide <= _ROUNDING * max(abs(new.value), abs(base.value)):
        wide = 0.0
    if not base.value:
        return Difference(apart, apart - wide, apart + wide, None, None, None)
    ratio = new.value / base.value
    part = _half(base.error * ratio / base.value, base.freedom, new.error / base.value, new.freedom)
    part = 0.0 if part <= _ROUNDING else part
    change = ratio - 1 if apart else 0.0
    return Difference(apart, apart - wide, apart + wide, change, change - part, change + part)


def _half(first: float, first_freedom: float, second: float, second_freedom: float) -> float:
    """Half the interval of a difference of two errors (Welch and Satterthwaite)."""
    one, other = first * first, second * second
    total = one + other
    if not total > 0:
        return total
    shares = one * one / first_freedom + other * other / second_freedom
    return student(total * total / shares) * math.sqrt(total)


def between_runs(values: Sequence[float]) -> Estimate:
    """The mean of what several runs say, by how they differ."""
    count = len(values)
    mean = math.fsum(values) / count
    spread = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return Estimate(mean, math.sqrt(spread / count), count - 1)


def like(value: float, others: Estimate, count: int) -> Estimate:
    """One run of a side, taken to vary as the ``count`` runs of the other side do."""
    return Estimate(value, others.error * math.sqrt(count), others.freedom)
