"""The parameter table and its overrides."""

from __future__ import annotations

import pytest

from zyfa.sim import SimError
from zyfa.sim.timing.parameters import BAD_END, TABLE, Parameters


def test_every_row_has_a_source_and_assumed_ones_a_bad_end():
    for item in TABLE.values():
        assert item.source
        assert item.confidence in ("measured", "extrapolated", "assumed")
        if item.confidence == "assumed":
            assert item.bad is not None, item.name


def test_overrides_and_digest(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text("ashr_pk_port = 8\n")
    changed = Parameters.from_toml(file)
    assert changed.ashr_pk_port == 8
    assert changed.digest != Parameters().digest
    assert Parameters().digest == Parameters().digest
    assert Parameters.of(overrides=BAD_END).ds_read_b64_tr_service == 4


@pytest.mark.parametrize("bad", [{"nope": 1}, {"issue": -4}, {"issue": 1.5}, {"issue": True}])
def test_bad_overrides(bad):
    with pytest.raises(SimError):
        Parameters.of(overrides=bad)


def test_gfx942_differs():
    assert Parameters.of("gfx942").transcendental_port == 16
