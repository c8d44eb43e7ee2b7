"""Registers of a wave by number: one space for vector, accumulation and scalar registers."""

VGPR, AGPR, SGPR = 0, 256, 512
"""Register numbers used throughout: v0.. = 0.., a0.. = 256.., s0.. = 512.."""

VCC, TTMP, M0, EXEC = SGPR + 106, SGPR + 108, SGPR + 124, SGPR + 126
SCC = SGPR + 128
HWREG = SGPR + 130
"""First of 16 cells of the hazard check that are no registers of a wave."""
REGISTERS = HWREG + 16
