"""What a kernel's workgroup computes at a time: head dimensions, keys of a block, query rows."""

from __future__ import annotations

from dataclasses import dataclass

SIDE = 32
"""Queries of a wave, keys of a key tile, dimensions of an output tile: 32 x 32 matrix results."""
QK_DEPTH = 64
"""Dimensions that one matrix instruction of Q K^T contracts; keys of one of P V."""
WAVE = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """Head dimension of Q and K, of V; keys of a block; query rows of a tile.

    ValueError for sizes that the generator has no operand layout for: rows of K and V in LDS are
    128 bytes (`zyfa.codegen.lds`), a block has two halves of 64 keys with a scale each, and a wave
    computes 32 rows.
    """

    d_qk: int
    d_v: int
    keys: int = 128
    rows: int = 256

    def __post_init__(self) -> None:
        for name, value in (("d_qk", self.d_qk), ("d_v", self.d_v)):
            if value < 128 or value % 128:
                raise ValueError(f"{name}={value}: a multiple of 128 is needed")
        if self.keys != 2 * QK_DEPTH:
            raise ValueError(f"keys={self.keys}: a block has {2 * QK_DEPTH} keys")
        if self.rows < SIDE or self.rows % self.keys:
            raise ValueError(f"rows={self.rows}: a multiple of {self.keys} keys is needed")

    @property
    def name(self) -> str:
        """As in kernel symbols: d128, or d256_128 where Q K^T and V differ."""
        return f"d{self.d_qk}" if self.d_qk == self.d_v else f"d{self.d_qk}_{self.d_v}"

    @property
    def key_tiles(self) -> int:
        """Score tiles of 32 keys in a block."""
        return self.keys // SIDE

    @property
    def value_tiles(self) -> int:
        """Output tiles of 32 dimensions."""
        return self.d_v // SIDE

    @property
    def qk_steps(self) -> int:
        """Matrix instructions that one score tile takes."""
        return self.d_qk // QK_DEPTH

    @property
    def pv_steps(self) -> int:
        """Matrix instructions that one output tile takes per block: the operands of P."""
        return self.keys // QK_DEPTH

    @property
    def waves(self) -> int:
        """Waves of a workgroup."""
        return self.rows // SIDE

    @property
    def threads(self) -> int:
        """Workitems of a workgroup."""
        return WAVE * self.waves


D128 = Shape(128, 128)
"""The only shape with a tested kernel."""
