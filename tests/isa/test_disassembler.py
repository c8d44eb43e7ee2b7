import random
import struct
import subprocess
import sys

import numpy as np
import pytest

from tracekit.isa import disassembler, llvm
from tracekit.isa.disassembler import Disassembler, DisassemblerError

if disassembler.available() is None:
    pytest.skip("no LLVM library: install the extra 'isa'", allow_module_level=True)


def words(*values):
    return struct.pack(f"<{len(values)}I", *values)


def test_text_is_llvms_with_single_blanks():
    code = words(0xC00A0100, 0, 0xBF810000)
    rows = list(Disassembler("gfx950").decode(code, 0x100))
    assert rows == [(0, 8, "s_load_dwordx4 s[4:7], s[0:1], 0x0"), (8, 4, "s_endpgm")]


def test_data_gives_long_rows():
    rows = list(Disassembler("gfx950").decode(words(0xFFFFFFFF, 0xBF800000) + b"\x01\x02"))
    assert rows == [(0, 4, ".long 0xffffffff"), (4, 4, "s_nop 0")]


def test_nothing():
    assert list(Disassembler("gfx942").decode(b"")) == []


@pytest.mark.parametrize(
    "code",
    [
        (0x04F82AF9, 0x87C258AC),  # SDWA with selector 7
        (0xD1EEF6FF, 0xD33D80FF),  # VOP3 with a literal
        (0xE0000000, 0xFF000000),  # MUBUF with a literal offset
        (0xD01000FF, 0x00000000),  # compare into a literal
        (0xD3AD000F, 0x5D0B10F7),  # f8f6f4 MFMA of a constant
    ],
)
@pytest.mark.parametrize("processor", ["gfx90a", "gfx942", "gfx950"])
def test_words_that_crash_llvm_are_data(processor, code):
    first = next(iter(Disassembler(processor).decode(words(*code))))
    assert first == (0, 4, f".long 0x{code[0]:08x}")


@pytest.mark.parametrize("processor", ["gfx90a", "gfx942", "gfx950"])
def test_random_data_is_covered_without_gap_or_crash(processor):
    seed = random.Random(processor)
    code = np.array([seed.getrandbits(32) for _ in range(20_000)], "<u4")
    code[::7] = code[::7] & 0xFFFF | 0xD3AC0000
    end = 0
    for at, size, text in Disassembler(processor).decode(code.tobytes()):
        assert at == end
        assert size in (4, 8, 12, 16)
        assert text
        end = at + size
    assert end == 80_000


def test_processors_differ():
    bf16_32x32x16 = words(0xD3B78000, 0x04020900)
    (_, size, text), *_ = Disassembler("gfx950").decode(bf16_32x32x16)
    assert (size, text[:24]) == (8, "v_mfma_f32_32x32x16_bf16")
    (_, size, _), *_ = Disassembler("gfx942").decode(bf16_32x32x16)
    assert size == 4


def test_available_tells_version_and_file():
    found = disassembler.available()
    assert found.startswith("LLVM ")
    assert Disassembler("gfx950").library in found


def test_the_wheels_modules_are_not_imported():
    # In a process of its own: another test may have imported them.
    seen = (
        "import sys; from tracekit.isa.disassembler import Disassembler; Disassembler('gfx950');"
        "print([name for name in sys.modules if name.startswith('rocm.')])"
    )
    run = subprocess.run(
        [sys.executable, "-c", seen], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout == "[]\n"


def test_a_given_library_is_the_only_candidate(tmp_path, monkeypatch):
    wrong = tmp_path / "libLLVM.so"
    wrong.write_bytes(b"\x7fELF")
    for library in (wrong, tmp_path, tmp_path / "missing.so"):
        with pytest.raises(DisassemblerError, match="no LLVM library"):
            Disassembler("gfx950", library)
        assert disassembler.available(library) is None
    monkeypatch.setenv("TRACEKIT_LLVM", str(wrong))
    disassembler._load.cache_clear()
    with pytest.raises(DisassemblerError, match="no LLVM library"):
        Disassembler("gfx950")


@pytest.fixture(autouse=True)
def fresh_search():
    disassembler._load.cache_clear()
    yield
    disassembler._load.cache_clear()


def test_rocm_comes_before_the_wheel(tmp_path, monkeypatch):
    library = tmp_path / "lib" / "llvm" / "lib" / "libLLVM.so.99"
    library.parent.mkdir(parents=True)
    library.symlink_to(Disassembler("gfx950").library)
    disassembler._load.cache_clear()
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    assert Disassembler("gfx950").library == str(library)


def test_without_any_library_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    monkeypatch.setattr(llvm.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(llvm, "installed", list)
    with pytest.raises(DisassemblerError, match=r"needs LLVM: .*install"):
        Disassembler("gfx950")
