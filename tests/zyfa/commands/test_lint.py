"""`zyfa lint`: which files it takes, and its exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from zyfa.cli import main

CASES = Path(__file__).parents[4] / "shared" / "cases" / "hazards"
REPORTED = {
    "cmpx_swap_0": (4, 0),
    "cmpx_swap_3": (4, 3),
    "cmpx_swap_4": None,
    "f64_valu_18": (19, 18),
    "f64_valu_19": None,
    "store_x2_war_0": None,
    "store_x4_war_0": (2, 0),
    "store_x4_war_1": (2, 1),
    "store_x4_war_2": None,
    "two_mfma_one_acc_0": (6, 0),
    "two_mfma_one_acc_5": (6, 5),
    "xdl16_valu_19": (20, 19),
    "xdl16_valu_20": None,
}
"""Case -> (slots needed, slots found), or None where nothing may be reported."""


def linked(source: Path, folder: Path, arch: str = "gfx950") -> Path:
    pytest.importorskip("ziglang", reason="the assembler comes with the ziglang wheel")
    obj, out = folder / "k.o", folder / "k.co"
    zig = [sys.executable, "-m", "ziglang"]
    target = ["--target=amdgcn-amd-amdhsa", f"-mcpu={arch}"]
    subprocess.run([*zig, "clang", *target, "-c", source, "-o", obj], check=True)
    subprocess.run([*zig, "ld.lld", "-shared", obj, "-o", out], check=True)
    return out


@pytest.mark.parametrize("case", REPORTED)
def test_case_is_reported_as_it_should(case, tmp_path, capsys):
    if not CASES.is_dir():
        pytest.skip("cases not found at ../shared/cases")
    code = main(["lint", str(linked(CASES / f"{case}.s", tmp_path))])
    shown, counts = capsys.readouterr()
    expected = REPORTED[case]
    assert code == (3 if expected else 0)
    if expected:
        needed, found = expected
        assert f"needs {needed} slots after" in shown
        assert f"; {found} found" in shown
    assert f"{1 if expected else 0} findings" in counts


SOURCE = """
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
.globl k
.p2align 8
.type k,@function
k:
  v_exp_f32_e32 v1, v2
  v_add_f32_e32 v3, v1, v1
  s_endpgm
.section .rodata,"a",@progbits
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
"""


@pytest.mark.parametrize(("arch", "code"), [("gfx90a", 0), ("gfx942", 3), ("gfx950", 3)])
def test_the_code_object_says_whose_table_counts(arch, code, tmp_path, capsys):
    source = tmp_path / "k.s"
    source.write_text(SOURCE.format(arch=arch))
    assert main(["lint", str(linked(source, tmp_path, arch))]) == code
    assert ("needs 1 slots after v_exp_f32_e32" in capsys.readouterr().out) == (code == 3)


def test_a_source_is_one_clear_line(tmp_path, capsys):
    source = tmp_path / "x.s"
    source.write_text(SOURCE.format(arch="gfx950"))
    assert main(["lint", str(source)]) == 1
    shown, error = capsys.readouterr()
    assert shown == ""
    assert error == f"zyfa: {source} is not an ELF code object: magic number does not match\n"


def test_an_object_must_be_linked(tmp_path, capsys):
    source = tmp_path / "x.s"
    source.write_text(SOURCE.format(arch="gfx950"))
    linked(source, tmp_path)
    assert main(["lint", str(tmp_path / "k.o")]) == 1
    assert "not linked; link it with ld.lld -shared" in capsys.readouterr().err


def test_a_chip_without_a_table_is_named(tmp_path, capsys):
    source = tmp_path / "x.s"
    old = SOURCE.format(arch="gfx906").replace("  .amdhsa_accum_offset 8\n", "")
    source.write_text(old)
    assert main(["lint", str(linked(source, tmp_path, "gfx906"))]) == 1
    error = capsys.readouterr().err
    assert error == "zyfa: the code object is for gfx906, not gfx90a or gfx942 or gfx950\n"
