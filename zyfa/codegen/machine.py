"""The named registers of one kernel: what lives where, for the whole program."""

from __future__ import annotations

import itertools

from zyfa.codegen.options import Options
from zyfa.codegen.registers import SCALAR_BUDGET, VECTOR_BUDGET, Allocator, Reg

TILES = 4
"""Key tiles of 32 in a block of 128, and dimension tiles of 32 in 128."""
RING = 4
"""Matrix operands in flight from LDS: each is read four matrix instructions ahead."""


class Machine:
    """Vector and scalar registers by meaning.

    A lane owns query l % 32 of its wave. In *half layout* a register holds, in lanes 0..31, the
    value for keys 0..63 of the block and, in lanes 32..63, that for keys 64..127 of the same query.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._labels = itertools.count()
        v = self.vector = Allocator("v", VECTOR_BUDGET)
        self.lane = v.take("lane")
        self.row = v.take("row")
        self.o = [v.take(f"o{i}", 16, 2) for i in range(TILES)]
        self.s = [v.take(f"s{i}", 16, 2) for i in range(TILES)]
        # P as two operands of 64 keys: tiles 0 and 2, tiles 1 and 3. So each matrix instruction
        # holds 32 keys of either half of the block, and the scale register in half layout serves
        # as it is (E8M0 block 0 = lanes 0..31, block 1 = lanes 32..63).
        self.p = [v.take(f"p{i}", 8, 2) for i in range(2)]
        self.q = [v.take(f"q{i}", 8, 4) for i in range(2)]
        self.ring = [v.take(f"ring{i}", 8, 4) for i in range(RING)]
        self.ones = v.take("ones", 8, 2)
        self.sum = v.take("sum", 16 if options.rowsum == "a" else 4, 2)
        self.k_read = [v.take(f"k_read{i}") for i in range(4)]
        self.v_read = [v.take(f"v_read{i}") for i in range(TILES)]
        self.k_load = v.take("k_load")
        self.coefficient = v.take("coefficient", 2, 2)
        self.bias = [v.take(f"bias{i}", 2, 2) for i in range(2)]
        self.alpha = v.take("alpha", 2, 2)
        self.log2_scale = v.take("log2_scale")
        self.bias_slope = v.take("bias_slope")
        self.bias_origin = v.take("bias_origin")
        self.unit_scales = v.take("unit_scales")
        self.minus_inf = v.take("minus_inf")
        self.m = v.take("m")
        self.l = v.take("l")
        self.scale = v.take("scale")
        self.diagonal = v.take("diagonal", 2)
        self.top = [v.take(f"top{i}") for i in range(2)]
        self.peak = v.take("peak")
        self.excess = v.take("excess")
        self.temp = [v.take(f"temp{i}") for i in range(4)]

        s = self.scalar = Allocator("s", SCALAR_BUDGET)
        self.kernarg = s.take("kernarg", 2)
        self.group = s.take("group")
        self.wave = s.take("wave")
        self.pointers = s.take("pointers", 16, 4)
        self.more = s.take("more", 8, 4)
        self.item = s.take("item", 16, 4)
        self.descale = [s.take(f"descale{i}") for i in range(3)]
        self.q_desc = s.take("q_desc", 4, 4)
        self.k_desc = s.take("k_desc", 4, 4)
        self.v_desc = s.take("v_desc", 4, 4)
        self.lds = [s.take(f"lds{i}") for i in range(3)]
        self.lds_wave = [s.take(f"lds_wave{i}") for i in range(4)]
        self.k_next = [s.take(f"k_next{i}") for i in range(2)]
        self.v_next = [s.take(f"v_next{i}") for i in range(2)]
        self.block_bytes = s.take("block_bytes")
        self.steps = s.take("steps")
        self.job = s.take("job")
        self.half = s.take("half")
        scratch = s.take("t", 4, 2)
        self.t = [scratch[i] for i in range(4)]
        self.item_address = scratch[2:4]
        self.mask = s.take("mask", 16, 2)

    def label(self, stem: str) -> str:
        """A fresh label name."""
        return f"L_{stem}_{next(self._labels)}"

    @property
    def lean_shift(self) -> bool:
        return self.options.softmax == "lean_ashr"

    def argument(self, name: str) -> Reg:
        """Scalar registers that hold a kernel argument after the loads of the prologue."""
        order = ("q", "k", "v", "out", "lse", "jobs", "q_descale", "k_descale")
        if name in order:
            at = 2 * order.index(name)
            return self.pointers[at : at + 2]
        words = ("v_descale", "", "scale_log2e", "job_count", "q_stride", "kv_stride", "out_stride")
        if name == "grid":
            return self.more[7]
        at = words.index(name)
        return self.more[at : at + 2] if name == "v_descale" else self.more[at]
