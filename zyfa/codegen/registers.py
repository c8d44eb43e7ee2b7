"""Registers by name, under the budget of two waves per SIMD.

gfx950 has 512 vector registers per lane and SIMD in one unified file; two resident waves leave each
256 (ROCm GPU specifications), and scalar code has s0..s101 besides VCC.
"""

from __future__ import annotations

from dataclasses import dataclass

VECTOR_BUDGET = 256
SCALAR_BUDGET = 102


class BudgetError(ValueError):
    """The named registers do not fit."""


@dataclass(frozen=True, slots=True)
class Reg:
    """`count` neighbouring registers of one file: "v" (32 bits a lane) or "s" (32 bits a wave)."""

    file: str
    index: int
    count: int = 1

    def __str__(self) -> str:
        if self.count == 1:
            return f"{self.file}{self.index}"
        return f"{self.file}[{self.index}:{self.index + self.count - 1}]"

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, key: int | slice) -> Reg:
        if isinstance(key, slice):
            start, stop, step = key.indices(self.count)
            if step != 1 or stop <= start:
                raise IndexError(f"{self}: no register slice {key}")
            return Reg(self.file, self.index + start, stop - start)
        if not 0 <= key < self.count:
            raise IndexError(f"{self} has no register {key}")
        return Reg(self.file, self.index + key)

    def each(self) -> list[Reg]:
        """Its registers one by one."""
        return [self[i] for i in range(self.count)]

    def units(self) -> tuple[str, ...]:
        """The single registers' names, the unit in which hazards are tracked."""
        return tuple(f"{self.file}{self.index + i}" for i in range(self.count))


VCC = "vcc"
M0 = "m0"
EXEC = "exec"


class Allocator:
    """Hands out named registers of one file in order; never reuses, so names stay unique."""

    def __init__(self, file: str, budget: int, start: int = 0) -> None:
        self.file = file
        self.budget = budget
        self.next = start
        self.names: dict[str, Reg] = {}

    def take(self, name: str, count: int = 1, align: int = 1) -> Reg:
        """`count` registers called `name`, the first a multiple of `align`.

        Raises BudgetError beyond the budget, naming all that was taken.
        """
        if name in self.names:
            raise ValueError(f"register name {name} is taken")
        first = -(-self.next // align) * align
        if first + count > self.budget:
            taken = ", ".join(f"{key} {len(reg)}" for key, reg in self.names.items())
            raise BudgetError(
                f"{self.file} registers: {name} needs {count} at {first}, "
                f"the budget is {self.budget} (taken: {taken})"
            )
        self.next = first + count
        self.names[name] = Reg(self.file, first, count)
        return self.names[name]

    @property
    def used(self) -> int:
        return self.next
