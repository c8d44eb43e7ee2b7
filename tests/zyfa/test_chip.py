"""What makes a machine one that records."""

from __future__ import annotations

from pathlib import Path

import pytest

from zyfa import chip
from zyfa.codegen import Options


def node(folder, version, number=1):
    path = folder / str(number) / "properties"
    path.parent.mkdir(parents=True)
    path.write_text(f"simd_count 1024\nsimd_per_cu 4\ngfx_target_version {version}\n")


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """A driver without devices, and a PATH without programs."""
    monkeypatch.setattr(chip, "TOPOLOGY", tmp_path / "nodes")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    return tmp_path / "nodes"


@pytest.mark.parametrize(("version", "found"), [(90500, True), (90402, False), (0, False)])
def test_device_by_the_drivers_version(driver, version, found):
    node(driver, 0, 0)  # the host
    node(driver, version)
    assert chip.has_gfx950() is found


def test_what_is_missing_is_named(driver, tmp_path):
    assert chip.missing() == "no gfx950 device"
    node(driver, 90500)
    assert chip.missing() == "rocprofv3 not found"
    program = tmp_path / "rocprofv3"
    program.write_text("#!/bin/sh\necho --kernel-trace\n")
    program.chmod(0o755)
    assert "ROCm 7.0" in chip.missing()
    program.write_text("#!/bin/sh\necho --att --kernel-trace\n")
    assert chip.missing() is None


def test_the_recording_names_the_kernel_and_a_warm_launch():
    options = Options(softmax="exact", fma="packed")
    arguments = chip.recording(options, 512, "sink", Path("there"))
    assert arguments[:4] == ["--kernel", options.symbol, "--iterations", str(chip.LAUNCHES)]
    assert Options.parse(arguments[arguments.index("--variant") + 1]) == options
