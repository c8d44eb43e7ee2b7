import os
import stat

import pytest

from zyfa import toolchain
from zyfa.errors import ToolchainError

SOURCE = '.amdgcn_target "amdgcn-amd-amdhsa--gfx950"\n.text\nf:\n  s_endpgm\n'


class Counting(toolchain.Toolchain):
    calls = 0

    def assemble(self, source):
        Counting.calls += 1
        return source.encode()


def fake_rocm(tmp_path, version):
    folder = tmp_path / "llvm" / "bin"
    folder.mkdir(parents=True)
    for name in ("clang", "ld.lld"):
        file = folder / name
        file.write_text(f"#!/bin/sh\necho AMD clang version {version}\n")
        file.chmod(file.stat().st_mode | stat.S_IEXEC)
    return tmp_path


def test_assembles_to_an_elf_shared_object():
    code = toolchain.find().assemble(SOURCE)
    assert code[:4] == b"\x7fELF"
    assert code[16] == 3  # ET_DYN


def test_a_refused_source_names_the_reason():
    with pytest.raises(ToolchainError, match="invalid instruction"):
        toolchain.find().assemble(".text\n  v_no_such_thing v0\n")


def test_cache_is_keyed_by_source_and_tool(tmp_path, monkeypatch):
    monkeypatch.setenv("ZYFA_CACHE", str(tmp_path))
    Counting.calls = 0
    one, two = Counting("one", (), ()), Counting("two", (), ())
    assert toolchain.build("a", one) == toolchain.build("a", one) == b"a"
    assert Counting.calls == 1
    toolchain.build("b", one)
    toolchain.build("a", two)
    assert Counting.calls == 3
    assert len(list(tmp_path.glob("*.co"))) == 3


def test_rocm_is_preferred_when_new_enough(tmp_path, monkeypatch):
    root = fake_rocm(tmp_path, "22.0.0")
    monkeypatch.setenv("ROCM_PATH", str(root))
    assert toolchain.find().name == "rocm-llvm-22"
    assert toolchain.find().clang == (os.path.join(root, "llvm", "bin", "clang"),)


def test_an_old_rocm_is_passed_over(tmp_path):
    assert toolchain.rocm(fake_rocm(tmp_path, "17.0.0")) is None
    assert toolchain.rocm(tmp_path / "nowhere") is None


def test_no_toolchain_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(toolchain, "rocm", lambda: None)
    monkeypatch.setattr(toolchain, "wheel", lambda: None)
    with pytest.raises(ToolchainError, match=r"pip install tracekit\[samples\]"):
        toolchain.find()
