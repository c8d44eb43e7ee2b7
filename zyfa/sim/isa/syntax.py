"""The disassembler's text, taken apart: mnemonic, operands, modifiers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from zyfa.sim.state.registers import AGPR, EXEC, M0, SCC, SGPR, TTMP, VCC, VGPR

NAMED = {
    "vcc": (VCC, 2), "vcc_lo": (VCC, 1), "vcc_hi": (VCC + 1, 1),
    "exec": (EXEC, 2), "exec_lo": (EXEC, 1), "exec_hi": (EXEC + 1, 1),
    "m0": (M0, 1), "flat_scratch": (SGPR + 102, 2), "flat_scratch_lo": (SGPR + 102, 1),
    "flat_scratch_hi": (SGPR + 103, 1), "xnack_mask": (SGPR + 104, 2),
    "xnack_mask_lo": (SGPR + 104, 1), "xnack_mask_hi": (SGPR + 105, 1),
    "src_scc": (SCC, 1), "scc": (SCC, 1),
}  # fmt: skip
BANK = {"v": VGPR, "a": AGPR, "s": SGPR, "ttmp": TTMP}
REGISTER = re.compile(r"^(v|a|s|ttmp)(?:(\d+)|\[(\d+):(\d+)\])$")
NUMBER = re.compile(r"^-?(0x[0-9a-f]+|\d+(\.\d+)?(e[-+]?\d+)?)$")
SPLIT = re.compile(r",\s*(?![^\[\]()]*[\])])")
MODIFIER = re.compile(r"\b([a-z_]\w*):(\[[^\]]*\]|swizzle\([^)]*\)|[^\s,]+)")


@dataclass(frozen=True)
class Operand:
    """One operand: a register range, a constant, or a bare word such as `off`.

    `base`, `count`: register number and dwords, base -1 when it is no register. `value`: int or
    float of a constant. `neg`, `absolute`, `sext`: input modifiers.
    """

    text: str
    base: int = -1
    count: int = 0
    value: int | float | None = None
    neg: bool = False
    absolute: bool = False
    sext: bool = False

    @property
    def number(self) -> int:
        """The integer of a constant. Raises TypeError for anything else."""
        if not isinstance(self.value, int):
            raise TypeError(f"{self.text} is no integer")
        return self.value

    @property
    def vector(self) -> bool:
        return 0 <= self.base < SGPR


@dataclass(frozen=True)
class Syntax:
    """A parsed instruction; modifiers map a name to True, an int, a list or text."""

    text: str
    mnemonic: str
    operands: tuple[Operand, ...]
    modifiers: dict[str, Any] = field(hash=False)

    @cached_property
    def stem(self) -> str:
        """The mnemonic without its encoding suffix."""
        return re.sub(r"_(e32|e64|sdwa|dpp|e64_dpp)$", "", self.mnemonic)


def operand(text: str) -> Operand:
    """Parse one operand, e.g. `-|v3|`, `s[4:7]`, `0x3f800000`, `sext(v1)`."""
    body, neg, absolute, sext = text.strip(), False, False, False
    if body.startswith("neg("):
        neg, body = True, body[4:-1]
    if body.startswith("-") and not NUMBER.match(body):
        neg, body = True, body[1:]
    if body.startswith("|"):
        absolute, body = True, body.strip("|")
    if body.startswith("abs("):
        absolute, body = True, body[4:-1]
    if body.startswith("sext("):
        sext, body = True, body[5:-1]
    found = REGISTER.match(body)
    if found:
        bank, single, low, high = found.groups()
        first = int(single if single is not None else low)
        count = 1 if single is not None else int(high) - first + 1
        return Operand(text, BANK[bank] + first, count, None, neg, absolute, sext)
    if body in NAMED:
        base, count = NAMED[body]
        return Operand(text, base, count, None, neg, absolute, sext)
    if NUMBER.match(body):
        number = float(body) if "." in body else int(body, 0)
        return Operand(text, value=number, neg=neg, absolute=absolute)
    return Operand(text)


def _modifier(text: str) -> Any:
    if text.startswith("["):
        return [int(item, 0) for item in text[1:-1].split(",")]
    try:
        return int(text, 0)
    except ValueError:
        return text


@lru_cache(maxsize=65536)
def parse(text: str) -> Syntax:
    """Split an instruction as LLVM prints it."""
    mnemonic, _, rest = text.strip().partition(" ")
    rest = rest.split("//")[0].split(";")[0].strip()
    modifiers: dict[str, object] = {}
    if mnemonic == "s_waitcnt":
        for name, count in re.findall(r"(\w+)\((\d+)\)", rest):
            modifiers[name] = int(count)
        return Syntax(text, mnemonic, (), modifiers)

    def take(found: re.Match[str]) -> str:
        modifiers[found[1]] = _modifier(found[2])
        return ""

    rest = MODIFIER.sub(take, rest)
    operands = []
    for chunk in SPLIT.split(rest):
        words = chunk.split() if "(" not in chunk else [chunk.strip()]
        if not words:
            continue
        operands.append(operand(words[0]))
        for word in words[1:]:
            modifiers[word] = True
    return Syntax(text, mnemonic, tuple(operands), modifiers)
