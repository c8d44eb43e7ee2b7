"""What a softmax variant says: the constants of its multiply-add and its conversion to FP8.

An element is x = score * coefficient + addend, then a code of E4M3. The coefficient is
scale log2(e) dq dk times 2^`element_exponent`; the addend is `slope` * (m + ceil t) + `origin`,
where t is the peak of the key's half above the reference m. Code and twin take both from here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol, TypeVar

from zyfa.codegen.instruction import Line
from zyfa.codegen.registers import Reg

Array = TypeVar("Array")


class Arithmetic(Protocol[Array]):
    """The instructions of gfx950 that conversions use, on arrays (`zyfa.reference.ops`)."""

    def exp2(self, x: Array, /) -> Array: ...

    def e4m3(self, x: Array, /) -> Array: ...

    def clamp(self, x: Array, /) -> Array: ...

    def nearest_codes(self, x: Array, /) -> Array: ...

    def shifted_codes(self, x: Array, shift: int, /) -> Array: ...


class Softmax(ABC):
    """One variant; a module of this package each, its instance called SOFTMAX."""

    slope: ClassVar[int]
    """Float32 bits, so that denormals are exact."""
    origin: ClassVar[int]
    """Float32 bits. P is at most 2^HEADROOM, which origin holds beside the code of 1.0."""
    element_exponent: ClassVar[int]
    qk_exponent: ClassVar[int] = 0
    """Scores carry 2^qk_exponent through the scale operands of QK; 0: QK is unscaled."""

    multiply_add_mods: ClassVar[str] = ""
    """Of the element's multiply-add, which `codes` follows."""

    @abstractmethod
    def convert(self, to: Reg, x: Sequence[Reg]) -> list[Line]:
        """Four elements to the four codes of one register, in order."""

    @abstractmethod
    def codes(self, ops: Arithmetic[Array], x: Array) -> Array:
        """The same on arrays: E4M3 codes (uint8) of float32."""
