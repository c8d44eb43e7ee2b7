"""Scalar ALU: SOP1, SOP2, SOPC, SOPK. Values are Python ints."""

from __future__ import annotations

from collections.abc import Callable

from zyfa.sim.isa.access import scalar_getter, scalar_putter
from zyfa.sim.isa.builders import Builder, handles
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.state.wave import Wave

B32, B64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def signed(value: int, bits: int = 32) -> int:
    """Two's complement value of `bits` low bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _field(value: int, control: int, bits: int) -> tuple[int, int]:
    """(offset, width) of a bit-field extract: offset in bits 4:0 or 5:0, width from 16."""
    return control & (bits - 1), min(control >> 16 & 127, bits)


def _bfe(a: int, b: int, bits: int, sign: bool) -> int:
    offset, width = _field(a, b, bits)
    if width == 0:
        return 0
    value = (a >> offset) & ((1 << width) - 1)
    return signed(value, width) if sign and offset + width <= bits else value


def _first(value: int, bits: int) -> int:
    return (value & -value).bit_length() - 1 if value else -1


def _flbit(value: int, bits: int) -> int:
    return bits - value.bit_length() if value else -1


def _flbit_signed(value: int, bits: int) -> int:
    number = signed(value, bits)
    top = number if number >= 0 else ~number
    return bits - top.bit_length() if top else -1


# name -> (function, wide operands, how SCC is set). SCC rules: "nz" result not zero; "-" kept.
Rule = tuple[Callable[..., int], str, str]
BINARY: dict[str, Rule] = {
    "s_and": (lambda a, b: a & b, "*", "nz"), "s_or": (lambda a, b: a | b, "*", "nz"),
    "s_xor": (lambda a, b: a ^ b, "*", "nz"), "s_andn2": (lambda a, b: a & ~b, "*", "nz"),
    "s_orn2": (lambda a, b: a | ~b, "*", "nz"), "s_nand": (lambda a, b: ~(a & b), "*", "nz"),
    "s_nor": (lambda a, b: ~(a | b), "*", "nz"), "s_xnor": (lambda a, b: ~(a ^ b), "*", "nz"),
}  # fmt: skip
BINARY32: dict[str, tuple[Callable[[int, int], int], str]] = {
    "s_mul_i32": (lambda a, b: a * b, "-"),
    "s_mul_hi_u32": (lambda a, b: a * b >> 32, "-"),
    "s_mul_hi_i32": (lambda a, b: signed(a) * signed(b) >> 32, "-"),
    "s_lshl_b32": (lambda a, b: a << (b & 31), "nz"),
    "s_lshr_b32": (lambda a, b: a >> (b & 31), "nz"),
    "s_ashr_i32": (lambda a, b: signed(a) >> (b & 31), "nz"),
    "s_bfe_u32": (lambda a, b: _bfe(a, b, 32, False), "nz"),
    "s_bfe_i32": (lambda a, b: _bfe(a, b, 32, True), "nz"),
    "s_bfm_b32": (lambda a, b: ((1 << (a & 31)) - 1) << (b & 31), "-"),
    "s_pack_ll_b32_b16": (lambda a, b: a & 0xFFFF | (b & 0xFFFF) << 16, "-"),
    "s_pack_lh_b32_b16": (lambda a, b: a & 0xFFFF | b & 0xFFFF0000, "-"),
    "s_pack_hh_b32_b16": (lambda a, b: a >> 16 | b & 0xFFFF0000, "-"),
}
COMPARE = {
    "eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
}  # fmt: skip
UNARY: dict[str, tuple[Callable[[int, int], int], str]] = {
    "s_mov": (lambda a, n: a, "-"),
    "s_not": (lambda a, n: ~a, "nz"),
    "s_brev": (lambda a, n: int(f"{a:0{n}b}"[::-1], 2), "-"),
    "s_wqm": (
        lambda a, n: sum(15 << q for q in range(0, n, 4) if a >> q & 15),
        "nz",
    ),
}
TO32: dict[str, tuple[Callable[[int, int], int], str, bool]] = {
    "s_bcnt0_i32": (lambda a, n: n - a.bit_count(), "nz", True),
    "s_bcnt1_i32": (lambda a, n: a.bit_count(), "nz", True),
    "s_ff0_i32": (lambda a, n: _first(~a & ((1 << n) - 1), n), "-", True),
    "s_ff1_i32": (lambda a, n: _first(a, n), "-", True),
    "s_flbit_i32": (lambda a, n: _flbit(a, n), "-", True),
}


def _binary(function: Callable[[int, int], int], wide: bool, scc: str, wide_b: bool) -> Builder:
    mask = B64 if wide else B32

    def build(inst: Instruction) -> Execute:
        put = scalar_putter(inst.operands[0], wide)
        get_a = scalar_getter(inst.operands[1], wide)
        get_b = scalar_getter(inst.operands[2], wide_b)
        if scc == "-":

            def run(w: Wave) -> None:
                put(w, function(get_a(w), get_b(w)) & mask)
        else:

            def run(w: Wave) -> None:
                value = function(get_a(w), get_b(w)) & mask
                put(w, value)
                w.scc = int(value != 0)

        return run

    return build


def _unary(function: Callable[[int, int], int], bits: int, to32: bool, scc: str) -> Builder:
    mask = B32 if to32 or bits == 32 else B64

    def build(inst: Instruction) -> Execute:
        put = scalar_putter(inst.operands[0], bits == 64 and not to32)
        get = scalar_getter(inst.operands[1], bits == 64)

        def run(w: Wave) -> None:
            value = function(get(w), bits) & mask
            put(w, value)
            if scc == "nz":
                w.scc = int(value != 0)

        return run

    return build


for _name, (_function, _, _scc) in BINARY.items():
    handles(f"{_name}_b32")(_binary(_function, False, _scc, False))
    handles(f"{_name}_b64")(_binary(_function, True, _scc, True))
for _name, (_function, _scc) in BINARY32.items():
    handles(_name)(_binary(_function, False, _scc, False))
handles("s_lshl_b64")(_binary(lambda a, b: a << (b & 63), True, "nz", False))
handles("s_lshr_b64")(_binary(lambda a, b: a >> (b & 63), True, "nz", False))
handles("s_ashr_i64")(_binary(lambda a, b: signed(a, 64) >> (b & 63), True, "nz", False))
handles("s_bfe_u64")(_binary(lambda a, b: _bfe(a, b, 64, False), True, "nz", False))
handles("s_bfe_i64")(_binary(lambda a, b: _bfe(a, b, 64, True), True, "nz", False))
handles("s_bfm_b64")(_binary(lambda a, b: ((1 << (a & 63)) - 1) << (b & 63), True, "-", False))
for _name, (_function, _scc) in UNARY.items():
    for _bits in (32, 64):
        handles(f"{_name}_b{_bits}")(_unary(_function, _bits, False, _scc))
for _name, (_function, _scc, _narrow) in TO32.items():
    for _bits in (32, 64):
        handles(f"{_name}_b{_bits}")(_unary(_function, _bits, True, _scc))
handles("s_flbit_i32")(_unary(_flbit_signed, 32, True, "-"))
handles("s_flbit_i32_i64")(_unary(_flbit_signed, 64, True, "-"))
handles("s_sext_i32_i8")(_unary(lambda a, n: signed(a, 8), 32, True, "-"))
handles("s_sext_i32_i16")(_unary(lambda a, n: signed(a, 16), 32, True, "-"))
handles("s_abs_i32")(_unary(lambda a, n: abs(signed(a)), 32, True, "nz"))


def _carry(function: Callable[[int, int, int], tuple[int, int]]) -> Builder:
    def build(inst: Instruction) -> Execute:
        put = scalar_putter(inst.operands[0])
        get_a, get_b = (scalar_getter(item) for item in inst.operands[1:3])

        def run(w: Wave) -> None:
            value, scc = function(get_a(w), get_b(w), w.scc)
            put(w, value & B32)
            w.scc = scc

        return run

    return build


def _overflow(value: int) -> int:
    return int(not -(1 << 31) <= value < 1 << 31)


def _signed_sum(a: int, b: int, c: int) -> tuple[int, int]:
    value = signed(a) + signed(b)
    return value, _overflow(value)


def _signed_difference(a: int, b: int, c: int) -> tuple[int, int]:
    value = signed(a) - signed(b)
    return value, _overflow(value)


handles("s_add_u32")(_carry(lambda a, b, c: (a + b, (a + b) >> 32)))
handles("s_addc_u32")(_carry(lambda a, b, c: (a + b + c, (a + b + c) >> 32)))
handles("s_sub_u32")(_carry(lambda a, b, c: (a - b, int(b > a))))
handles("s_subb_u32")(_carry(lambda a, b, c: (a - b - c, int(b + c > a))))
handles("s_add_i32")(_carry(_signed_sum))
handles("s_sub_i32")(_carry(_signed_difference))
handles("s_min_u32")(_carry(lambda a, b, c: (min(a, b), int(a < b))))
handles("s_max_u32")(_carry(lambda a, b, c: (max(a, b), int(a > b))))
handles("s_min_i32")(
    _carry(lambda a, b, c: (min(signed(a), signed(b)), int(signed(a) < signed(b))))
)
handles("s_max_i32")(
    _carry(lambda a, b, c: (max(signed(a), signed(b)), int(signed(a) > signed(b))))
)
handles("s_absdiff_i32")(
    _carry(lambda a, b, c: (abs(signed(a) - signed(b)), int(signed(a) != signed(b))))
)


def _shift_add(n: int) -> Builder:
    return _carry(lambda a, b, c: ((a << n) + b, int((a << n) + b > B32)))


for _n in (1, 2, 3, 4):
    handles(f"s_lshl{_n}_add_u32")(_shift_add(_n))


@handles("s_cselect_b32", "s_cselect_b64", "s_cmov_b32", "s_cmov_b64")
def _select(inst: Instruction) -> Execute:
    wide = inst.syntax.stem.endswith("64")
    put = scalar_putter(inst.operands[0], wide)
    get_a = scalar_getter(inst.operands[1], wide)
    if inst.syntax.stem.startswith("s_cmov"):

        def run(w: Wave) -> None:
            if w.scc:
                put(w, get_a(w))

        return run
    get_b = scalar_getter(inst.operands[2], wide)

    def choose(w: Wave) -> None:
        put(w, get_a(w) if w.scc else get_b(w))

    return choose


def _compare(name: str, relation: Callable[[int, int], bool], sign: bool, wide: bool) -> None:
    def build(inst: Instruction) -> Execute:
        get_a, get_b = (scalar_getter(item, wide) for item in inst.operands)
        if sign:

            def run(w: Wave) -> None:
                w.scc = int(relation(signed(get_a(w)), signed(get_b(w))))
        else:

            def run(w: Wave) -> None:
                w.scc = int(relation(get_a(w), get_b(w)))

        return run

    handles(name)(build)


for _name, _relation in COMPARE.items():
    _compare(f"s_cmp_{_name}_u32", _relation, False, False)
    _compare(f"s_cmp_{_name}_i32", _relation, True, False)
    if _name in ("eq", "lg"):
        _compare(f"s_cmp_{_name}_u64", _relation, False, True)
_compare("s_bitcmp0_b32", lambda a, b: not a >> (b & 31) & 1, False, False)
_compare("s_bitcmp1_b32", lambda a, b: bool(a >> (b & 31) & 1), False, False)


def _sopk(name: str, function: Callable[[int, int], tuple[int | None, int | None]]) -> None:
    def build(inst: Instruction) -> Execute:
        item = inst.operands[0]
        get, put = scalar_getter(item), scalar_putter(item)
        constant = signed(inst.operands[1].number, 16)

        def run(w: Wave) -> None:
            value, scc = function(get(w), constant)
            if value is not None:
                put(w, value & B32)
            if scc is not None:
                w.scc = scc

        return run

    handles(name)(build)


_sopk("s_movk_i32", lambda a, k: (k, None))
_sopk("s_mulk_i32", lambda a, k: (signed(a) * k, None))
_sopk("s_addk_i32", lambda a, k: (signed(a) + k, _overflow(signed(a) + k)))


def _compare_constant(name: str, relation: Callable[[int, int], bool]) -> None:
    _sopk(f"s_cmpk_{name}_i32", lambda a, k: (None, int(relation(signed(a), k))))
    _sopk(f"s_cmpk_{name}_u32", lambda a, k: (None, int(relation(a, k & 0xFFFF))))


for _name, _relation in COMPARE.items():
    _compare_constant(_name, _relation)


@handles("s_bitset0_b32", "s_bitset1_b32")
def _bitset(inst: Instruction) -> Execute:
    get, put = scalar_getter(inst.operands[0]), scalar_putter(inst.operands[0])
    bit = scalar_getter(inst.operands[1])
    one = inst.syntax.stem.startswith("s_bitset1")

    def run(w: Wave) -> None:
        mask = 1 << (bit(w) & 31)
        put(w, get(w) | mask if one else get(w) & ~mask)

    return run


SAVEEXEC: dict[str, Callable[[int, int], int]] = {
    "and": lambda s, e: s & e, "or": lambda s, e: s | e, "xor": lambda s, e: s ^ e,
    "andn2": lambda s, e: s & ~e, "orn2": lambda s, e: s | ~e, "nand": lambda s, e: ~(s & e),
    "nor": lambda s, e: ~(s | e), "xnor": lambda s, e: ~(s ^ e),
    "andn1": lambda s, e: ~s & e, "orn1": lambda s, e: ~s | e,
}  # fmt: skip


def _saveexec(name: str, function: Callable[[int, int], int], write_result: bool) -> None:
    def build(inst: Instruction) -> Execute:
        put = scalar_putter(inst.operands[0], True)
        get = scalar_getter(inst.operands[1], True)

        def run(w: Wave) -> None:
            kept = w.exec
            value = function(get(w), kept) & B64
            w.set_exec(value)
            put(w, value if write_result else kept)
            w.scc = int(value != 0)

        return run

    handles(name)(build)


for _name, _function in SAVEEXEC.items():
    _saveexec(f"s_{_name}_saveexec_b64", _function, False)
for _name in ("andn1", "andn2"):
    _saveexec(f"s_{_name}_wrexec_b64", SAVEEXEC[_name], True)
