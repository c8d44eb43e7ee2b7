"""Every cell of the hazard tables as two instructions: a producer of v[32:..], its consumer.

For each chip, `pairs(arch)` has one `Pair` or more for each cell that needs slots.
"""

from __future__ import annotations

from dataclasses import dataclass

from zyfa.sim.rules.waitstates import Kind, Role, needs

XDL4 = {
    "gfx90a": "v_mfma_f32_16x16x16f16",
    "gfx942": "v_mfma_f32_16x16x16_f16",
    "gfx950": "v_mfma_f32_16x16x16_f16",
}
"""A matrix instruction of 4 registers that every chip has (8 passes on gfx90a)."""
MATRIX = {
    Kind.XDL2: ("v_mfma_f32_4x4x4f16", 4, 2),
    Kind.XDL4: ("v_mfma_f32_16x16x16f16", 4, 2),
    Kind.XDL8: ("v_mfma_f32_16x16x4f16", 16, 2),
    Kind.XDL16: ("v_mfma_f32_32x32x4f16", 32, 2),
    Kind.SGEMM2: ("v_mfma_f32_4x4x1f32", 4, 1),
    Kind.SGEMM8: ("v_mfma_f32_16x16x1f32", 16, 1),
    Kind.SGEMM16: ("v_mfma_f32_32x32x2f32", 16, 1),
    Kind.DGEMM_4X4: ("v_mfma_f64_4x4x4f64", 2, 2),
    Kind.DGEMM_16X16: ("v_mfma_f64_16x16x4f64", 8, 2),
}
"""Kind -> (opcode, registers of C and D, registers of A and B)."""


@dataclass(frozen=True)
class Pair:
    """`between` stands directly before the consumer and fills a slot."""

    name: str
    kind: Kind
    role: Role
    producer: str
    consumer: str
    slots: int
    between: str = ""


def v(first: int, count: int) -> str:
    return f"v[{first}:{first + count - 1}]" if count > 1 else f"v{first}"


def mfma(kind: Kind, d: int, c: int, a: int = 0) -> str:
    name, wide, narrow = MATRIX[kind]
    return f"{name} {v(d, wide)}, {v(a, narrow)}, {v(a + 2, narrow)}, {v(c, wide)}"


def xdl(arch: str, d: int, c: int, a: int = 0) -> str:
    return f"{XDL4[arch]} {v(d, 4)}, {v(a, 2)}, {v(a + 2, 2)}, {v(c, 4)}"


DPP = "quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"
SDWA = "dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD"
VCC, EXEC = (Role.DIV_FMAS,), (Role.EXEC_MATRIX, Role.EXEC_MEMORY, Role.EXEC_DPP, Role.EXEC_LANE,
                               Role.EXEC_SWAP)  # fmt: skip


def producers(kind: Kind, role: Role) -> list[str]:
    """Instructions that write (or, for the kinds that are read, read) v32 upwards."""
    if kind in MATRIX:
        return [mfma(kind, 32, 32)]
    if kind.name.endswith("_SRC_C"):
        return [mfma(Kind[kind.name.removesuffix("_SRC_C")], 80, 32)]
    if kind == Kind.VALU_SCALAR:
        if role in EXEC:
            return ["v_cmpx_eq_u32_e32 vcc, v0, v0"]
        if role in VCC:
            return ["v_cmp_eq_u32_e32 vcc, v0, v0"]
        return ["v_readfirstlane_b32 s8, v1"]
    register = "TRAPSTS" if role == Role.RFE else "MODE"
    return {
        Kind.VALU: ["v_mov_b32_e32 v32, v1"],
        Kind.TRANS: ["v_exp_f32_e32 v32, v1", "v_rcp_f32_e32 v32, v1"],
        Kind.HALF: [f"v_add_f16_sdwa v32, v1, v2 {SDWA}", "v_mad_u16 v32, v1, v2, v3 "
                    "op_sel:[0,0,0,1]"],
        Kind.DOT: ["v_dot2_f32_f16 v32, v1, v2, v3"],
        Kind.LOAD: ["ds_read_b32 v32, v60", "buffer_load_dword v32, v60, s[12:15], 0 offen"],
        Kind.SALU_M0: ["s_mov_b32 m0, 0"],
        Kind.SETREG: [f"s_setreg_imm32_b32 hwreg(HW_REG_{register}, 23, 1), 0"],
        Kind.STORE_DATA: [
            "buffer_store_dwordx4 v[30:33], v60, s[12:15], 0 offen",
            "global_store_dwordx4 v[60:61], v[30:33], off",
            "global_store_dwordx3 v60, v[30:32], s[16:17]",
            "flat_store_dwordx3 v[60:61], v[30:32]",
        ],
    }[kind]  # fmt: skip


def consumers(arch: str, kind: Kind, role: Role) -> list[str]:
    """Instructions that touch v32 (s8, M0, EXEC, ...) in that role."""
    offen = "buffer_load_dword v20, v60, s[12:15]"
    found = {
        Role.XDL_C: [xdl(arch, 64, 30)],
        Role.SGEMM_C: ["v_mfma_f32_16x16x4f32 v[64:67], v0, v1, v[30:33]"],
        Role.DGEMM_C: ["v_mfma_f64_16x16x4f64 v[64:71], v[0:1], v[2:3], v[26:33]"],
        Role.MATRIX_AB: [xdl(arch, 64, 64, 32), xdl(arch, 64, 64, 30)],
        Role.MATRIX_WRITE: [xdl(arch, 30, 64)],
        Role.VALU: ["v_add_f32_e32 v20, v32, v21", "v_writelane_b32 v32, s9, 3"],
        Role.TRANS: ["v_log_f32_e32 v20, v32"],
        Role.DOT_C: ["v_dot4_i32_i8 v20, v21, v22, v32"],
        Role.SWAP: ["v_permlane32_swap_b32_e32 v32, v20", "v_permlane16_swap_b32_e32 v20, v32"],
        Role.READ_LANE: ["v_readfirstlane_b32 s9, v32", "v_readlane_b32 s9, v32, 3"],
        Role.DPP: [f"v_mov_b32_dpp v20, v32 {DPP}", f"v_mov_b32_dpp v32, v20 {DPP}",
                   f"v_add_f32_dpp v20, v21, v32 {DPP}"],
        Role.VALU_WRITE: ["v_mov_b32_e32 v32, v1"],
        Role.MEMORY: ["ds_write_b32 v60, v32", "global_store_dword v[60:61], v32, off",
                      "buffer_load_dword v20, v32, s[12:15], 0 offen"],
        Role.MEMORY_AFTER_DGEMM: ["ds_write_b32 v60, v32", "global_store_dword v[60:61], v32, off"],
        Role.MEMORY_WRITE: ["ds_read_b32 v32, v60", "global_load_dword v32, v[60:61], off"],
        Role.FMA64: ["v_fma_f64 v[20:21], v[22:23], v[24:25], v[26:27]",
                     "v_fmac_f64_e32 v[20:21], v[22:23], v[24:25]"],
        Role.SCALAR_VALU: ["v_add_u32_e32 v20, s8, v21"],
        Role.LANE_SELECT: ["v_readlane_b32 s9, v20, s8", "v_writelane_b32 v20, 7, s8"],
        Role.DIV_FMAS: ["v_div_fmas_f32 v20, v21, v22, v23"],
        Role.SCALAR_MEMORY: [f"{offen}, s8 offen", "global_load_dword v20, v60, s[8:9]"],
        Role.EXEC_MATRIX: [xdl(arch, 64, 64)],
        Role.EXEC_MEMORY: [f"{offen}, 0 offen", "global_load_dword v20, v[60:61], off"],
        Role.EXEC_DPP: [f"v_mov_b32_dpp v20, v21 {DPP}"],
        Role.EXEC_LANE: ["v_readfirstlane_b32 s9, v20", "v_readlane_b32 s9, v20, 3",
                         "v_writelane_b32 v20, s9, 3"],
        Role.EXEC_SWAP: ["v_permlane32_swap_b32_e32 v20, v21"],
        Role.M0: ["s_ttracedata", "s_sendmsg sendmsg(MSG_INTERRUPT)", "s_movrels_b32 s9, s10",
                  "ds_read_addtid_b32 v20", "buffer_load_dword v60, s[12:15], 0 offen lds",
                  "global_load_lds_dword v[60:61], off"],
        Role.SETREG: ["s_getreg_b32 s9, hwreg(HW_REG_MODE)",
                      "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0"],
        Role.RFE: ["s_rfe_b64 s[2:3]"],
    }  # fmt: skip
    if role == Role.SAME_C:
        return [mfma(kind, 32, 32)]
    if kind == Kind.DOT and role == Role.VALU:
        return [*found[role], "v_dot2_f32_f16 v20, v32, v21, v22"]
    if arch == "gfx90a":
        return [text for text in found[role] if "load_lds" not in text]
    return found[role]


def excluded(kind: Kind, consumer: str) -> bool:
    """Consumers that need more by another cell, or are no instance of this one."""
    if consumer.startswith("v_writelane_b32 v32") and kind in (Kind.HALF, Kind.TRANS):
        return kind == Kind.TRANS  # LLVM does not take its old value for a use
    return kind == Kind.VALU_SCALAR and consumer.startswith("s_")


def pairs(arch: str) -> list[Pair]:
    """All pairs of a chip; every cell of its table has at least one."""
    out = []
    for kind, row in zip(Kind, needs(arch), strict=True):
        for role, slots in zip(Role, row, strict=True):
            if not slots:
                continue
            between = mfma(Kind.DGEMM_4X4, 70, 70) if role == Role.MEMORY_AFTER_DGEMM else ""
            for producer in producers(kind, role):
                for consumer in consumers(arch, kind, role):
                    if not excluded(kind, consumer):
                        name = f"{kind.name} {role.name}: {producer} | {consumer}"
                        out.append(Pair(name, kind, role, producer, consumer, slots, between))
    return out


def gap(slots: int) -> list[str]:
    """s_nops that fill exactly so many slots."""
    return [f"s_nop {min(16, slots - n) - 1}" for n in range(0, slots, 16)]


def body(pair: Pair, slots: int) -> list[str]:
    """The pair with so many slots in between."""
    fill = []
    if pair.between:
        slots, fill = slots - 1, [pair.between]
    if pair.kind == Kind.LOAD and slots:
        slots, fill = slots - 1, [*fill, "s_waitcnt vmcnt(0) lgkmcnt(0)"]
    return [pair.producer, *gap(slots), *fill, pair.consumer]
