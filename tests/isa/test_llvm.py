"""Where LLVM is looked for, and what to install where there is none."""

import platform
import sys

import pytest

from tracekit.isa import llvm
from tracekit.isa.disassembler import DisassemblerError, _load

LAYOUTS = {
    "Debian": "usr/lib/llvm-20/lib/libLLVM.so.20.1",
    "Debian, multiarch": "usr/lib/x86_64-linux-gnu/libLLVM.so.20.1",
    "Fedora": "usr/lib64/libLLVM.so.20.1",
    "brew on Apple silicon": "opt/homebrew/opt/llvm/lib/libLLVM.dylib",
    "brew on Intel": "usr/local/opt/llvm@20/lib/libLLVM.dylib",
    "brew on Linux": "home/linuxbrew/.linuxbrew/opt/llvm/lib/libLLVM.so",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_libraries_of_packages_are_found(layout, tmp_path):
    path = tmp_path / LAYOUTS[layout]
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    assert llvm.installed(tmp_path) == [path]


def test_the_newest_comes_first_and_a_link_counts_once(tmp_path):
    for version in ("9", "20", "19"):
        folder = tmp_path / "usr" / "lib" / f"llvm-{version}" / "lib"
        folder.mkdir(parents=True)
        (folder / f"libLLVM-{version}.so").write_bytes(b"")
        (folder / "libLLVM.so").symlink_to(f"libLLVM-{version}.so")
    found = [path.resolve().name for path in llvm.installed(tmp_path)]
    assert found == ["libLLVM-20.so", "libLLVM-19.so", "libLLVM-9.so"]


@pytest.mark.parametrize(
    ("system", "machine", "version", "said"),
    [
        ("linux", "x86_64", (3, 12), "pip install 'rocm-llvm-python"),
        ("linux", "x86_64", (3, 15), "apt install libllvm20"),
        ("linux", "aarch64", (3, 12), "apt install libllvm20"),
        ("darwin", "arm64", (3, 12), "brew install llvm"),
        ("win32", "AMD64", (3, 12), "tracekit listing"),
    ],
)
def test_the_message_says_exactly_what_to_install(system, machine, version, said, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    assert said in llvm.what_to_install()


def test_without_any_library_the_error_says_it(monkeypatch, tmp_path):
    monkeypatch.delenv("TRACEKIT_LLVM", raising=False)
    monkeypatch.setattr("tracekit.isa.disassembler.candidates", lambda wanted: iter(()))
    _load.cache_clear()
    try:
        with pytest.raises(DisassemblerError, match="needs LLVM: "):
            _load(None)
    finally:
        _load.cache_clear()
