"""Row sum of the rounded P on the matrix unit, so that the weights sum to one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

from zyfa.codegen.instruction import Instruction, Line, op, swap
from zyfa.codegen.numbers import E4M3_ONE
from zyfa.codegen.products import UNIT_AND_P, flat, scaled
from zyfa.codegen.registers import Reg

WORD_OF_ONES = E4M3_ONE * 0x01010101


class Registers(Protocol):
    """What a row sum uses of `zyfa.codegen.machine.Machine`."""

    lane: Reg
    p: list[Reg]
    ones: Reg
    sum: Reg
    l: Reg  # noqa: E741 - the softmax's denominator, as papers call it
    scale: Reg
    unit_scales: Reg
    temp: list[Reg]


class RowSum(ABC):
    """One form of the row sum."""

    registers: int
    """Of the accumulator."""
    cycles: int
    """Matrix cycles a block of 128 keys and 32 queries."""

    @abstractmethod
    def selector(self, k: Registers) -> list[Line]:
        """The A operand, once a workgroup: E4M3 ones where a row of D wants the element."""

    @abstractmethod
    def product(self, k: Registers, part: int) -> Instruction:
        """The matrix instruction of operand `part` of P."""

    @abstractmethod
    def collect(self, k: Registers) -> list[Line]:
        """Before m or the scale changes: the block's sums to l, if they are not there yet."""

    @abstractmethod
    def running(self, k: Registers) -> Reg:
        """The sum so far, which a rescale multiplies by alpha."""

    @abstractmethod
    def total(self, k: Registers) -> list[Line]:
        """The row's l in every lane, in k.l."""


class Accumulated(RowSum):
    """Form a: scaled 32x32x64 that accumulates l itself."""

    registers = 16
    cycles = 128

    def selector(self, k: Registers) -> list[Line]:
        return [op("v_mov_b32", register, WORD_OF_ONES) for register in k.ones.each()]

    def product(self, k: Registers, part: int) -> Instruction:
        return scaled(k.sum, k.ones, k.p[part], k.sum, (k.unit_scales, k.scale, UNIT_AND_P))

    def collect(self, k: Registers) -> list[Line]:
        return []

    def running(self, k: Registers) -> Reg:
        return k.sum[0]

    def total(self, k: Registers) -> list[Line]:
        return [op("v_mov_b32", k.l, k.sum[0])]


class Halves(RowSum):
    """Form b: two unscaled 16x16x128 in half layout, collected in two vector ticks a block."""

    registers = 4
    cycles = 64

    def selector(self, k: Registers) -> list[Line]:
        """Row m sums queries 16 ((m / 4) % 2) .. + 15 over the first four registers of P if m < 8,
        else over the last four; so lane l of D holds the sum for query l % 32 over the 64 keys of
        its half: half layout."""
        parity, upper, low, high = k.temp
        return [
            op("v_bfe_u32", parity, k.lane, 2, 1),
            op("v_bfe_u32", low, k.lane, 4, 1),
            op("v_xor_b32", parity, low, parity).noted(
                "0: the lane's k group is of the row's queries"
            ),
            op("v_bfe_u32", upper, k.lane, 3, 1).noted("row m >= 8"),
            op("v_xor_b32", high, 1, upper),
            op("v_or_b32", low, parity, upper),
            op("v_or_b32", high, parity, high),
            op("v_add_u32", low, -1, low).noted("all ones where 0"),
            op("v_add_u32", high, -1, high),
            *(op("v_and_b32", register, WORD_OF_ONES, low) for register in k.ones[0:4].each()),
            *(op("v_and_b32", register, WORD_OF_ONES, high) for register in k.ones[4:8].each()),
        ]

    def product(self, k: Registers, part: int) -> Instruction:
        return flat(k.sum, k.ones, k.p[part], k.sum if part else 0)

    def collect(self, k: Registers) -> list[Line]:
        # The scale byte is a biased exponent, so shifting it up gives 2^-e as float32.
        return [
            op("v_lshlrev_b32_e64", k.temp[3], 23, k.scale),
            op("v_fma_f32", k.l, k.sum[0], k.temp[3], k.l),
        ]

    def running(self, k: Registers) -> Reg:
        return k.l

    def total(self, k: Registers) -> list[Line]:
        return [
            *self.collect(k),
            op("v_mov_b32", k.temp[0], k.l),
            swap(k.l, k.temp[0]),
            op("v_add_f32", k.l, k.l, k.temp[0]),
        ]


ROWSUMS: dict[str, RowSum] = {"b": Halves(), "a": Accumulated()}
"""By the name in `Options`, the default first."""
