"""The named registers of one kernel: what lives where, for the whole program."""

from __future__ import annotations

import itertools

from zyfa.codegen import kernargs, lds
from zyfa.codegen.markers import Markers
from zyfa.codegen.multiply_adds import MULTIPLY_ADDS
from zyfa.codegen.options import Options
from zyfa.codegen.registers import SCALAR_BUDGET, VECTOR_BUDGET, Allocator, Reg
from zyfa.codegen.rowsums import ROWSUMS
from zyfa.codegen.schedules import SCHEDULES
from zyfa.codegen.softmaxes import SOFTMAXES
from zyfa.jobs import ITEM

RING = 4
"""Matrix operands in flight from LDS: each is read four matrix instructions ahead."""
HALVES = 2
"""Of 64 keys in a block, each with a scale of its own."""


class Machine:
    """The choices of a variant as objects, and vector and scalar registers by meaning.

    A lane owns query l % 32 of its wave. In *half layout* a register holds, in lanes 0..31, the
    value for keys 0..63 of the block and, in lanes 32..63, that for keys 64..127 of the same query.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.shape = options.shape
        self.softmax = SOFTMAXES[options.softmax]
        self.schedule = SCHEDULES[options.schedule]
        self.multiply_add = MULTIPLY_ADDS[options.fma]
        self.rowsum = ROWSUMS[options.rowsum]
        self.markers = Markers(options.on("markers"))
        self.layout = lds.layout(options.shape)
        self.vector = Allocator("v", VECTOR_BUDGET)
        self.scalar = Allocator("s", SCALAR_BUDGET)
        self._labels = itertools.count()
        self._matrix_operands()
        self._lane_values()
        self._wave_values()

    def _matrix_operands(self) -> None:
        v, shape = self.vector, self.shape
        self.lane = v.take("lane")
        self.row = v.take("row")
        self.o = [v.take(f"o{i}", 16, 2) for i in range(shape.value_tiles)]
        self.s = [v.take(f"s{i}", 16, 2) for i in range(shape.key_tiles)]
        # P as two operands of 64 keys: tiles 0 and 2, tiles 1 and 3. So each matrix instruction
        # holds 32 keys of either half of the block, and the scale register in half layout serves
        # as it is (E8M0 block 0 = lanes 0..31, block 1 = lanes 32..63).
        self.p = [v.take(f"p{i}", 8, 2) for i in range(shape.pv_steps)]
        self.q = [v.take(f"q{i}", 8, 4) for i in range(shape.qk_steps)]
        self.ring = [v.take(f"ring{i}", 8, 4) for i in range(RING)]
        self.ones = v.take("ones", 8, 2)
        self.sum = v.take("sum", self.rowsum.registers, 2)
        self.k_read = [v.take(f"k_read{i}") for i in range(2 * lds.STEPS)]
        self.v_read = [v.take(f"v_read{i}") for i in range(lds.TILES)]
        self.load_from = {first: v.take(f"load{first}") for first in self.layout.firsts}

    def _lane_values(self) -> None:
        v = self.vector
        self.coefficient = v.take("coefficient", 2, 2)
        self.bias = [v.take(f"bias{i}", 2, 2) for i in range(HALVES)]
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
        self.top = [v.take(f"top{i}") for i in range(HALVES)]
        self.peak = v.take("peak")
        self.excess = v.take("excess")
        self.temp = [v.take(f"temp{i}") for i in range(4)]

    def _wave_values(self) -> None:
        s = self.scalar
        self.kernarg = s.take("kernarg", 2)
        self.group = s.take("group")
        self.wave = s.take("wave")
        self.loaded = [s.take(f"arguments{at}", count, 4) for at, count in kernargs.loads()]
        self.item = s.take("item", ITEM.itemsize // kernargs.WORD, 4)
        self.descale = {name: s.take(name) for name in ("q_descale", "k_descale", "v_descale")}
        self.q_desc = s.take("q_desc", 4, 4)
        self.k_desc = s.take("k_desc", 4, 4)
        self.v_desc = s.take("v_desc", 4, 4)
        self.lds = [s.take(f"lds{i}") for i in range(lds.BUFFERS)]
        # Where the wave's first and second load of a plane land in its buffer 0.
        self.lands = {
            plane: [s.take(f"{plane.operand}{plane.first}_lands{i}") for i in range(2)]
            for plane in self.layout.planes
        }
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
        # log2_scale before any row is cooled; the |m| from which rescales look at it again.
        self.base_scale = s.take("base_scale")
        self.cool_from = s.take("cool_from")

    def label(self, stem: str) -> str:
        """A fresh label name."""
        return f"L_{stem}_{next(self._labels)}"

    def argument(self, name: str) -> Reg:
        """Scalar registers that hold a kernel argument after the loads of the prologue."""
        argument = kernargs.BY_NAME[name]
        size = argument.size // kernargs.WORD
        for register, (at, count) in zip(self.loaded, kernargs.loads(), strict=True):
            word = (argument.offset - at) // kernargs.WORD
            if word < count:
                return register[word : word + size]
        raise AssertionError(f"{name} is not loaded")

    def field(self, name: str) -> Reg:
        """Scalar registers that hold a field of the job item (`zyfa.jobs.ITEM`)."""
        assert ITEM.fields is not None
        kind, at, *_ = ITEM.fields[name]
        return self.item[at // kernargs.WORD : (at + kind.itemsize) // kernargs.WORD]
