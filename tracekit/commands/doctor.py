"""``tracekit doctor``."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import click

from tracekit.commands.grouping import Grouped
from tracekit.commands.output import Output, output_options


@dataclass(frozen=True)
class Part:
    """A part of the machine's equipment, and what it is good for."""

    name: str
    found: str | None  # what was found, None when absent
    enables: str
    remedy: str  # how to get it


@click.command("doctor", cls=Grouped)
@output_options
def command(output: Output) -> int:
    """What this installation can do: decoder, LLVM, ROCm, rocprofv3, and what each enables.

    Nothing listed as missing is needed to read a capture that has a code.json.
    """
    import pandas as pd

    from tracekit import __version__
    from tracekit.present.cells import Column
    from tracekit.present.tables import Shown

    parts = examine()
    rows = [asdict(part) | {"state": "yes" if part.found else "missing"} for part in parts]
    if output.format == "json":
        parts_json = [{**asdict(part), "available": part.found is not None} for part in parts]
        output.json({"schema": "tracekit.doctor/1", "tracekit": __version__, "parts": parts_json})
        return 0
    table = pd.DataFrame(rows)
    table["found"] = [part.found or part.remedy for part in parts]
    if output.format == "csv":
        output.csv([table.drop(columns="remedy")])
        return 0
    columns = ("name", "state", "enables", "found")
    styles = {name: Column(name, left=True) for name in columns}
    output.tables([Shown(table, f"tracekit {__version__}", styles, None)])
    return 0


def examine() -> list[Part]:
    """Every part, in the order of how often it is needed."""
    from tracekit.isa.disassembler import available
    from tracekit.isa.llvm import what_to_install
    from tracekit.record import rocm
    from tracekit.sqtt.decode import kind, native_core

    root, program = rocm.rocm_root(), rocm.rocprofv3()
    version = rocm.rocm_version()
    return [
        Part(
            "native core", kind() if native_core() else None,
            "fast decoding", "the pure Python decoder runs; install with a C++17 compiler",
        ),
        Part(
            "LLVM", available(), "listings of code objects (.out)",
            f"{what_to_install()}, or set TRACEKIT_LLVM to a libLLVM.so with AMDGPU",
        ),
        Part(
            "ROCm", None if root is None else f"{version or 'version unknown'} ({root})",
            "running kernels, and its LLVM", "no ROCm at $ROCM_PATH or /opt/rocm",
        ),
        Part(
            "rocprofv3", None if program is None else _profiler(program),
            "tracekit capture", "not on PATH and not in ROCm; comes with ROCm 7.0 or later",
        ),
        Part(
            "AMD decoder", _text(rocm.amd_decoder()),
            "ui_output directories by rocprofv3 (tracekit does without)",
            "in ROCm 7.13 or later; before: https://github.com/ROCm/rocprof-trace-decoder/releases",
        ),
        *_modules(),
    ]  # fmt: skip


def _profiler(program: str) -> str:
    from tracekit.record import rocm

    version = rocm.rocprofv3_version(program) or "version unknown"
    without = "" if rocm.knows_att(program) else ", has no --att: needs ROCm 7.0 or later"
    return f"{version} ({program}){without}"


def _modules() -> list[Part]:
    from importlib.util import find_spec

    extras = (
        ("pyarrow", "parquet", "export --format parquet"),
        ("zstandard", "zstd", "reading .tar.zst"),
        ("dash", "dashboard", "tracekit dashboard"),
        ("ziglang", "samples", "assembling kernels"),
        ("torch", "zyfa", "zyfa"),
    )
    return [
        Part(name, "installed" if find_spec(name) else None, what, f"pip install 'tracekit[{e}]'")
        for name, e, what in extras
    ]


def _text(path: object) -> str | None:
    return None if path is None else str(path)
