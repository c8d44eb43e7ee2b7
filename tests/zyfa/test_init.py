"""The package imports nothing heavy and says what is missing in one line."""

import subprocess
import sys

import pytest

import zyfa

CHECK = """
import sys
sys.modules["torch"] = None
import zyfa, zyfa.codegen, zyfa.jobs, zyfa.sim, zyfa.toolchain, zyfa.simulate
try:
    zyfa.flash_attn_func
except ImportError as error:
    print(error)
"""


def test_without_torch_only_the_functions_are_missing():
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "zyfa.flash_attn_func needs torch: pip install tracekit[zyfa]"


def test_public_names_are_listed():
    assert set(zyfa.__all__) <= set(dir(zyfa))


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = zyfa.no_such_thing
