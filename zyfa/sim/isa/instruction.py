"""A static instruction: decoded once, executed many times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from zyfa.sim.isa.syntax import Operand, Syntax, parse
from zyfa.sim.state.loader import Kernel
from zyfa.sim.state.wave import Wave

Execute = Callable[[Wave], None]


class Listing(Protocol):
    """What an instruction asks the program that it stands in."""

    bias: int

    def source_of(self, address: int) -> str: ...

    def index_of(self, address: int) -> int: ...


def undecoded(w: Wave) -> None:
    """Stands for `execute` until an instruction is built (`zyfa.sim.isa.builders`)."""
    raise AssertionError("the instruction has not been built")


@dataclass
class Instruction:
    """One instruction of a program.

    `index`: row in the program; `execute` changes the wave and, for branches, `wave.next`.
    `board`: its `zyfa.sim.rules.hazards.Scoreboard`, kept here because every issue needs it.
    `indexed`: the M0-relative operand, such as " gpr_idx(SRC0)", inside s_set_gpr_idx_on ... off.
    """

    index: int
    address: int
    size: int
    text: str
    kernel: Kernel
    program: Listing
    indexed: str = ""
    syntax: Syntax = field(init=False)
    execute: Execute = field(default_factory=lambda: undecoded, init=False)
    board: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.syntax = parse(self.text)

    @property
    def where(self) -> str:
        """Text, PC and source line, for messages."""
        source = self.program.source_of(self.address)
        line = f" ({source})" if source else ""
        return f"{self.text} at PC 0x{self.address:x}{line}"

    @property
    def operands(self) -> tuple[Operand, ...]:
        return self.syntax.operands

    def modifier(self, name: str, default: Any = 0) -> Any:
        """A modifier's value; its type goes with its name (`Syntax.modifiers`)."""
        return self.syntax.modifiers.get(name, default)

    def bits(self, name: str, count: int, default: int = 0) -> list[int]:
        """A list modifier such as op_sel, padded to `count`."""
        found: list[int] = list(self.syntax.modifiers.get(name, [default] * count))
        return found + [default] * (count - len(found))

    @property
    def flush(self) -> bool:
        """Whether f32 denormals are flushed (FP_DENORM of the kernel descriptor)."""
        return self.kernel.denorm_f32 != 3
