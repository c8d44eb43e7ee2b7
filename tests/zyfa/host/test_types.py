"""Every argument of every public function: a wrong type or shape is refused by its name."""

import inspect
import re

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

import zyfa  # noqa: E402
from zyfa.errors import UnsupportedError  # noqa: E402

CODES = torch.zeros(1, 4, 2, 128).to(torch.float8_e4m3fn)
EDGES = torch.tensor([0, 4], dtype=torch.int32)
FLAT = dict.fromkeys("qkv", CODES[0]) | {
    "cu_seqlens_q": EDGES, "cu_seqlens_k": EDGES, "max_seqlen_q": 4, "max_seqlen_k": 4,
}  # fmt: skip
OUT, LSE = torch.zeros(1, 4, 2, 128), torch.zeros(1, 2, 4)
CALLS = {
    "flash_attn_func": {**dict.fromkeys("qkv", CODES), "causal": True},
    "flash_attn_varlen_func": {**FLAT, "causal": True},
    "fp8_quantize": {"x": OUT},
    "hadamard_rotate": {"q": OUT, "k": OUT},
    "merge_attention": {"outs": [OUT], "lses": [LSE]},
}
"""A call that works, for every public function."""

NOTHING = {"None": None}
NUMBERS = {"an int": 3, "a float": 0.5, "a complex": 1j, "a numpy number": np.float32(2)}
OBJECTS = {
    "a str": "1", "bytes": b"1", "a dict": {}, "a set": {1}, "an object": object(),
    "a class": int, "an array": np.zeros((1, 4, 2, 128), np.float32),
}  # fmt: skip
SEQUENCES = {"a list": [1.0], "nested lists": [[1.0]], "an empty list": [], "a tuple": (1, 2, 3)}
TENSORS = {
    "a scalar tensor": torch.tensor(1.0), "an int tensor": torch.ones(1, 4, 2, 128).long(),
    "a bool tensor": torch.ones(1, 4, 2, 128).bool(), "two dimensions": torch.ones(7, 3),
    "five dimensions": torch.ones(1, 1, 4, 2, 128), "complex tensor": torch.ones(3) * 1j,
}  # fmt: skip
ANYTHING = NOTHING | NUMBERS | OBJECTS | SEQUENCES | TENSORS | {"a bool": True}


def without(*kinds):
    """Everything but these, by name or by group."""
    names = {n for k in kinds for n in (k if isinstance(k, dict) else [k])}
    return {name: value for name, value in ANYTHING.items() if name not in names}


REAL = ("an int", "a float", "a numpy number")
VALID = {
    "x": {"a scalar tensor", "two dimensions", "five dimensions"},
    "hadamard_rotate.q": {"five dimensions"}, "hadamard_rotate.k": {"five dimensions"},
    "dropout_p": REAL, "softcap": REAL, "softmax_scale": {*REAL, "None"},
    "causal": {"a bool"}, "deterministic": {"a bool"}, "return_attn_probs": {"a bool"},
    "max_seqlen_q": {"an int"}, "max_seqlen_k": {"an int"},
    "alibi_slopes": {"None", *TENSORS}, "block_table": {"None", *TENSORS},
    **{f"{name}_descale": {"None", "a scalar tensor"} for name in "qkv"},
}  # fmt: skip
"""What an argument takes of ANYTHING, or refuses as unsupported."""


def cases():
    for function, call in CALLS.items():
        for name in inspect.signature(getattr(zyfa, function)).parameters:
            valid = VALID.get(f"{function}.{name}", VALID.get(name, ()))
            for kind, value in without(*valid).items():
                yield pytest.param(function, call, name, value, id=f"{function}({name}: {kind})")


@pytest.mark.parametrize(("function", "call", "name", "value"), list(cases()))
def test_a_wrong_argument_is_named(function, call, name, value):
    with pytest.raises((TypeError, ValueError)) as caught:
        getattr(zyfa, function)(**{**call, name: value})
    assert name in re.findall(r"\w+", str(caught.value))
    assert "\n" not in str(caught.value)


def test_every_public_function_is_here_and_its_call_works():
    assert set(CALLS) == set(zyfa.__all__)
    for function, call in CALLS.items():
        assert getattr(zyfa, function)(**call) is not None


@pytest.mark.parametrize("name", ["alibi_slopes", "block_table"])
@pytest.mark.parametrize("value", TENSORS.values(), ids=TENSORS)
def test_what_has_the_right_type_but_no_support_says_so(name, value):
    call = {**CALLS["flash_attn_varlen_func"], name: value}
    with pytest.raises(UnsupportedError, match=name):
        zyfa.flash_attn_varlen_func(**call)


def test_a_float_descale_is_named():
    with pytest.raises(TypeError, match="q_descale must be a tensor, not float"):
        zyfa.flash_attn_func(**CALLS["flash_attn_func"], q_descale=1.0)


@pytest.mark.parametrize("name", ["max_seqlen_q", "max_seqlen_k"])
def test_a_length_is_not_negative(name):
    with pytest.raises(ValueError, match=f"{name}=-1"):
        zyfa.flash_attn_varlen_func(**{**CALLS["flash_attn_varlen_func"], name: -1})


@pytest.mark.parametrize(
    ("value", "error"),
    [((1.0, 0), TypeError), ((True, 0), TypeError), ((1,), ValueError), ((1, 2, 3), ValueError)],
)
def test_a_window_is_a_pair_of_integers(value, error):
    with pytest.raises(error, match="window_size must be a pair of integers"):
        zyfa.flash_attn_func(**CALLS["flash_attn_func"], window_size=value)
