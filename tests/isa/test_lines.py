"""Source lines of code objects: line tables and the stack of inlined calls."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tracekit
from tracekit.isa import disassembler, elf, lines

if disassembler.available() is None:
    pytest.skip("no LLVM library: install the extra 'isa'", allow_module_level=True)

HIP = """\
#define DEVICE __attribute__((device)) inline
DEVICE float twice(float x) {
  return x * 2.0f + 1.5f * x * x;
}
DEVICE float deep(float x) {
  return twice(x) + 3.0f;
}
__attribute__((global)) void kernel(float *out, float v) {
  int i = __builtin_amdgcn_workitem_id_x();
  float old = out[i];
  if (old > v)
    out[i] = deep(v + old);
  else
    out[i + 64] = deep(v * old) * 7.0f;
}
"""

DIRECTIVES = """
.text
.file 1 "/build/src" "gemm.py"
.file 2 "/build/src" "tiles.py"
.globl kernel
.p2align 8
.type kernel,@function
kernel:
.loc 1 10
s_nop 0
s_nop 1
.loc 2 7
s_nop 2
.loc 1 0
s_nop 3
.loc 1 12
s_endpgm
.Lend:
.size kernel, .Lend-kernel
.section .debug_abbrev,"",@progbits
.byte 1, 0x11, 0, 0x10, 0x17, 0, 0, 0
.section .debug_info,"",@progbits
.long .Linfo_end-.Linfo
.Linfo:
.short 4
.long 0
.byte 8
.byte 1
.long 0
.Linfo_end:
"""


@pytest.fixture
def compiled(tmp_path, assemble):
    """``compiled(*options) -> path`` of HIP compiled with -g for gfx950."""
    source = tmp_path / "kernel.hip"
    source.write_text(HIP)

    def run(*options):
        text = tmp_path / "hip.s"
        command = [
            sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--offload-device-only",
            "--offload-arch=gfx950", "-nogpulib", "-nogpuinc", "-g", "-O2", *options, "-S",
            source, "-o", text,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return assemble(text.read_text(), name="hip")

    return run


@pytest.mark.parametrize("version", ["-gdwarf-5", "-gdwarf-4"])
def test_inlined_calls_are_told_innermost_first(compiled, tmp_path, version):
    listing = elf.read(compiled(version))
    file = f"{tmp_path}/kernel.hip"
    found = set(listing.source)
    # Both calls of deep(): each instruction of twice() knows by which it came.
    assert f"{file}:3 -> {file}:6 -> {file}:12" in found
    assert f"{file}:3 -> {file}:6 -> {file}:14" in found
    assert f"{file}:14" in found
    end = listing.source[listing.text.index("s_endpgm")]
    assert end in (f"{file}:15", f"{file}:11")


def test_line_directives_of_assembly(assemble):
    listing = elf.read(assemble(DIRECTIVES))
    assert listing.source[:5] == [
        "/build/src/gemm.py:10",
        "/build/src/gemm.py:10",
        "/build/src/tiles.py:7",
        "",  # line 0: code of no line
        "/build/src/gemm.py:12",
    ]


def test_without_line_tables_there_is_no_source(assemble):
    assert set(elf.read(assemble("s_nop 0\ns_endpgm")).source) == {""}


def test_damaged_line_tables_leave_the_listing(compiled):
    path = compiled()
    whole = elf.read(path)
    data = bytearray(path.read_bytes())
    section = elf.CodeObject(path)._elf.get_section_by_name(".debug_line")
    start, size = section["sh_offset"], section["sh_size"]
    data[start : start + size] = b"\xff" * size
    path.write_bytes(data)
    listing = elf.read(path)
    assert listing.text == whole.text
    assert set(listing.source) == {""}


def test_large_debug_info_gives_lines_alone(compiled, monkeypatch, tmp_path):
    monkeypatch.setattr(lines, "MOST_INFO", 0)
    found = set(elf.read(compiled()).source)
    assert f"{tmp_path}/kernel.hip:3" in found
    assert not any("->" in source for source in found)


def test_source_root_moves_the_lines_of_a_code_object(compiled, tmp_path):
    """The stream of a sample that runs code object 1, with another code object in its place."""
    sample = Path(__file__).resolve().parents[2] / "traces" / "zyfa_gap_lean"
    without = shutil.ignore_patterns("code.json")
    folder = shutil.copytree(sample, tmp_path / "run", ignore=without)
    capture = tracekit.open(
        folder, listing=f"1={compiled()}", source_root={str(tmp_path): "/home/me"}
    )
    found = set(capture.timeline().listing.source)
    assert "/home/me/kernel.hip:3 -> /home/me/kernel.hip:6 -> /home/me/kernel.hip:12" in found
