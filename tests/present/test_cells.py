"""Cells know missing values; what formats a value never sees one."""

import numpy as np
import pandas as pd
import pytest

from tracekit.present.cells import (
    Column,
    address,
    decimal,
    is_missing,
    mean,
    number,
    percent,
    score,
    signed,
    word,
)


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, np.float64("nan")])
@pytest.mark.parametrize("text", [str, percent, number, mean, decimal, signed, score, address])
def test_a_missing_value_is_a_dash_whatever_the_column(missing, text):
    assert Column("", text).cell(missing) == "-"
    assert Column("", text, missing="").cell(missing) == ""


@pytest.mark.parametrize("value", [0, 0.0, "", False, np.int64(0), "nan"])
def test_zero_and_empty_are_values(value):
    assert not is_missing(value)


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [
        (percent, 0.2714, "27.1 %"),
        (number, np.int64(1234567), "1,234,567"),
        (mean, 3.0, "3"),
        (mean, 1234.56, "1,234.6"),
        (decimal, 2048.04, "2,048.0"),
        (signed, 0.25, "+0.2"),
        (score, -1.0, "-1.00"),
        (address, 0x2CB8, "0x2cb8"),
        (address, -1, "-"),
        (word, "", "-"),
        (word, "matrix", "matrix"),
    ],
)
def test_values(text, value, shown):
    assert Column("", text).cell(value) == shown
