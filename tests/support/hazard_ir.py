"""LLVM IR that makes the compiler emit the pairs of the hazard tables, without inline assembly.

A producer leaves `%d`, a vector of its 32-bit registers; a scheduling barrier keeps the consumer
right behind it. Arguments and results of a function lie in v0 upwards, which is how results land
on the registers that the producer wrote or read.
"""

from __future__ import annotations

from dataclasses import dataclass

from zyfa.sim.rules.waitstates import Kind, Role, needs

BARRIER = "call void @llvm.amdgcn.sched.barrier(i32 0)"
MFMA = {
    Kind.XDL2: ("mfma.f32.4x4x4f16", "<4 x half>", "<4 x float>", 4),
    Kind.XDL4: ("mfma.f32.16x16x16f16", "<4 x half>", "<4 x float>", 4),
    Kind.XDL8: ("mfma.f32.16x16x4f16", "<4 x half>", "<16 x float>", 16),
    Kind.XDL16: ("mfma.f32.32x32x4f16", "<4 x half>", "<32 x float>", 32),
    Kind.SGEMM2: ("mfma.f32.4x4x1f32", "float", "<4 x float>", 4),
    Kind.SGEMM8: ("mfma.f32.16x16x1f32", "float", "<16 x float>", 16),
    Kind.SGEMM16: ("mfma.f32.32x32x2f32", "float", "<16 x float>", 16),
    Kind.DGEMM_4X4: ("mfma.f64.4x4x4f64", "double", "double", 2),
    Kind.DGEMM_16X16: ("mfma.f64.16x16x4f64", "double", "<4 x double>", 8),
}
"""Kind -> (intrinsic, type of A and B, type of C and D, registers of D)."""


@dataclass(frozen=True)
class Snippet:
    """One function, with the kind and role of what stands on the two sides of its barrier."""

    name: str
    kind: Kind
    role: Role
    text: str


def matrix(result: str, intrinsic: str, ab: str, a: str, b: str, cd: str, c: str) -> str:
    return (
        f"{result} = call {cd} @llvm.amdgcn.{intrinsic}({ab} {a}, {ab} {b}, {cd} {c}, "
        "i32 0, i32 0, i32 0)"
    )


def words(count: int) -> str:
    return f"<{count} x i32>"


@dataclass(frozen=True)
class Producer:
    """Lines that leave `%d` as `<words x i32>`, with the arguments that they take."""

    arguments: str
    lines: list[str]
    words: int = 1


def producer(kind: Kind, arch: str) -> Producer | None:
    if kind in MFMA:
        name, ab, cd, count = MFMA[kind]
        zero = "0.0" if cd == "double" else "zeroinitializer"
        lines = [matrix("%m", name, ab, "%a", "%a", cd, zero), f"%d = bitcast {cd} %m to "
                 f"{words(count)}"]  # fmt: skip
        return Producer(f"{ab} %a", lines, count)
    whole = "%d = insertelement <1 x i32> poison, i32 %p, i32 0"
    scalar = {
        Kind.VALU: ("i32 %pa, i32 %pb", ["%p = add i32 %pa, %pb"]),
        Kind.TRANS: (
            "float %pa",
            ["%pf = call float @llvm.amdgcn.exp2.f32(float %pa)", "%p = bitcast float %pf to i32"],
        ),
        Kind.HALF: (
            "float %pa, float %pb, i32 %po",
            ["%p = call i32 @llvm.amdgcn.cvt.pk.fp8.f32(float %pa, float %pb, i32 %po, i1 1)"],
        ),
        Kind.DOT: (
            "<2 x half> %pa, <2 x half> %pb, float %pc",
            ["%pf = call float @llvm.amdgcn.fdot2(<2 x half> %pa, <2 x half> %pb, float %pc, i1 1)",
             "%p = bitcast float %pf to i32"],
        ),
        Kind.LOAD: ("ptr addrspace(3) %pp", ["%p = load i32, ptr addrspace(3) %pp"]),
    }  # fmt: skip
    if kind == Kind.HALF and arch == "gfx90a":  # no FP8: a sum that SDWA shifts
        lines = ["%ps = fadd half %pa, %pb", "%pi = bitcast half %ps to i16",
                 "%pz = zext i16 %pi to i32", "%p = shl i32 %pz, 16"]  # fmt: skip
        return Producer("half %pa, half %pb", [*lines, whole])
    if kind not in scalar:
        return None
    arguments, lines = scalar[kind]
    return Producer(arguments, [*lines, whole])


def consumer(role: Role, count: int) -> tuple[str, list[str], str, str] | None:
    """(arguments, lines, type of the result, result) of an instruction that uses `%d`."""
    first = f"%e = extractelement {words(count)} %d, i32 0"
    as_float = [first, "%f = bitcast i32 %e to float"]
    if role in (Role.XDL_C, Role.SGEMM_C, Role.DGEMM_C):
        return accumulate(role, count)
    if role == Role.MATRIX_AB:
        if count == 1:
            pick = ["%e = extractelement <1 x i32> %d, i32 0",
                    "%w = insertelement <2 x i32> %other, i32 %e, i32 1"]  # fmt: skip
        else:
            pick = [f"%w = shufflevector {words(count)} %d, {words(count)} poison, "
                    "<2 x i32> <i32 0, i32 1>"]  # fmt: skip
        call = matrix("%r", "mfma.f32.16x16x16f16", "<4 x half>", "%h", "%h", "<4 x float>", "%c")
        lines = [*pick, "%h = bitcast <2 x i32> %w to <4 x half>", call]
        return "<2 x i32> %other, <4 x float> %c", lines, "<4 x float>", "%r"
    found = {
        Role.VALU: ("float %x", [*as_float, "%r = fadd float %f, %x"], "float"),
        Role.TRANS: ("", [*as_float, "%r = call float @llvm.amdgcn.log.f32(float %f)"], "float"),
        Role.DOT_C: (
            "i32 %x, i32 %y",
            [first, "%r = call i32 @llvm.amdgcn.sdot4(i32 %x, i32 %y, i32 %e, i1 0)"],
            "i32",
        ),
        Role.SWAP: (
            "i32 %x",
            [first, "%s = call {i32, i32} @llvm.amdgcn.permlane32.swap(i32 %e, i32 %x, i1 0, i1 0)",
             "%r = extractvalue {i32, i32} %s, 0"],
            "i32",
        ),
        Role.READ_LANE: (
            "",
            [first, "%r = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %e)"],
            "i32",
        ),
        Role.DPP: (
            "",
            [first, "%r = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %e, i32 177, "
             "i32 15, i32 15, i1 1)"],
            "i32",
        ),
    }  # fmt: skip
    if role in found:
        arguments, lines, kind = found[role]
        return arguments, lines, kind, "%r"
    if role == Role.MEMORY:
        return "ptr addrspace(3) %q", [first, "store i32 %e, ptr addrspace(3) %q"], "void", ""
    if role in (Role.VALU_WRITE, Role.MEMORY_WRITE) and count > 1:
        new = {
            Role.VALU_WRITE: ("i32 %x, i32 %y", "%n = add i32 %x, %y"),
            Role.MEMORY_WRITE: ("ptr addrspace(3) %q", "%n = load i32, ptr addrspace(3) %q"),
        }[role]
        lines = [new[1], f"%r = insertelement {words(count)} %d, i32 %n, i32 0"]
        return new[0], lines, words(count), "%r"
    return None


def accumulate(role: Role, count: int) -> tuple[str, list[str], str, str]:
    """An MFMA whose SrcC has some, but not exactly the registers of `%d`."""
    choices = {
        Role.XDL_C: (("mfma.f32.16x16x16f16", "<4 x half>", "<4 x float>", 4),
                     ("mfma.f32.16x16x4f16", "<4 x half>", "<16 x float>", 16)),
        Role.SGEMM_C: (("mfma.f32.16x16x4f32", "float", "<4 x float>", 4),
                       ("mfma.f32.16x16x1f32", "float", "<16 x float>", 16)),
        Role.DGEMM_C: (("mfma.f64.4x4x4f64", "double", "double", 2),
                       ("mfma.f64.16x16x4f64", "double", "<4 x double>", 8)),
    }[role]  # fmt: skip
    inside = next((entry for entry in choices if entry[3] < count), None)
    if inside is not None:
        name, ab, cd, wide = inside
        picks = ", ".join(f"i32 {n}" for n in range(wide))
        lines = [f"%w = shufflevector {words(count)} %d, {words(count)} poison, "
                 f"<{wide} x i32> <{picks}>"]  # fmt: skip
        arguments = f"{ab} %b"
    else:
        name, ab, cd, wide = next(entry for entry in choices if entry[3] > count)
        lines, before = [], "%rest"
        for n in range(count):
            lines.append(f"%e{n} = extractelement {words(count)} %d, i32 {n}")
            lines.append(f"%w{n} = insertelement {words(wide)} {before}, i32 %e{n}, i32 {n}")
            before = f"%w{n}"
        lines.append(f"%w = shufflevector {words(wide)} {before}, {words(wide)} poison, <{wide} x "
                     f"i32> <{', '.join(f'i32 {n}' for n in range(wide))}>")  # fmt: skip
        arguments = f"{words(wide)} %rest, {ab} %b"
    lines.append(f"%c = bitcast {words(wide)} %w to {cd}")
    lines.append(matrix("%r", name, ab, "%b", "%b", cd, "%c"))
    return arguments, lines, cd, "%r"


def function(name: str, arguments: str, lines: list[str], kind: str, result: str) -> str:
    end = f"ret {kind} {result}" if result else "ret void"
    return "\n  ".join([f"define {kind} @{name}({arguments}) #0 {{", *lines, end]) + "\n}\n"


def special(kind: Kind, role: Role, arch: str) -> tuple[str, list[str], str, str] | None:
    """Pairs that are no combination of a producer and a consumer."""
    if kind in MFMA and role == Role.SAME_C:
        name, ab, cd, _ = MFMA[kind]
        first = matrix("%m", name, ab, "%a", "%a", cd, "%c")
        second = matrix("%r", name, ab, "%a", "%a", cd, "%m")
        return f"{cd} %c, {ab} %a", [first, BARRIER, second], cd, "%r"
    if kind in (Kind.XDL2_SRC_C, Kind.XDL4_SRC_C):  # a larger C is copied, so that D can have it
        name, ab, cd, _ = MFMA[Kind[kind.name.removesuffix("_SRC_C")]]
        lines = [f"%a2 = shufflevector {cd} %c, {cd} poison, <2 x i32> <i32 0, i32 1>",
                 f"%a = bitcast <2 x float> %a2 to {ab}",
                 matrix("%m", name, ab, "%a", "%a", cd, "%c"), BARRIER]  # fmt: skip
        if role not in (Role.VALU_WRITE, Role.MEMORY_WRITE):
            return None
        if role == Role.VALU_WRITE:
            lines += [f"%x = extractelement {cd} %c, i32 2", f"%y = extractelement {cd} %c, i32 3",
                      "%n = fadd float %x, %y"]  # fmt: skip
        else:
            lines += [f"%x = extractelement {cd} %c, i32 2", "%i = bitcast float %x to i32",
                      "%q = inttoptr i32 %i to ptr addrspace(3)",
                      "%n = load float, ptr addrspace(3) %q"]  # fmt: skip
        lines += [BARRIER, f"%r = insertelement {cd} %c, float %n, i32 0",
                  f"store {cd} %m, ptr addrspace(3) null, align 4"]  # fmt: skip
        return f"{cd} %c", lines, cd, "%r"
    if kind == Kind.STORE_DATA and role in (Role.VALU_WRITE, Role.MATRIX_WRITE):
        store = ["store <4 x float> %c, ptr addrspace(1) %p", BARRIER]
        if role == Role.VALU_WRITE:
            lines = [*store, "%r = fadd float %x, %y"]
            return "<4 x float> %c, ptr addrspace(1) %p, float %x, float %y", lines, "float", "%r"
        call = matrix("%r", "mfma.f32.16x16x16f16", "<4 x half>", "%a", "%a", "<4 x float>",
                      "zeroinitializer")  # fmt: skip
        arguments = "<4 x float> %c, ptr addrspace(1) %p, <4 x half> %a"
        return arguments, [*store, call], "<4 x float>", "%r"
    if kind == Kind.HALF and role == Role.VALU_WRITE and arch != "gfx90a":
        convert = "call i32 @llvm.amdgcn.cvt.pk.fp8.f32(float %x, float %y, i32"
        lines = [f"%d = {convert} %o, i1 1)", BARRIER, f"%r = {convert} %d, i1 0)"]
        return "float %x, float %y, i32 %o", lines, "i32", "%r"
    if role == Role.MEMORY_AFTER_DGEMM:
        return _after_dgemm(kind, arch)
    if role == Role.FMA64 and kind in MFMA:
        name, ab, cd, _ = MFMA[kind]
        call = matrix("%m", name, ab, "%a", "%a", cd, "%c")
        lines = [call, BARRIER, "%f = call double @llvm.fma.f64(double %x, double %y, double %z)",
                 f"%p = insertvalue {{{cd}, double}} poison, {cd} %m, 0",
                 f"%r = insertvalue {{{cd}, double}} %p, double %f, 1"]  # fmt: skip
        arguments = f"{cd} %c, {ab} %a, double %x, double %y, double %z"
        return arguments, lines, f"{{{cd}, double}}", "%r"
    return _scalar(kind, role)


def _after_dgemm(kind: Kind, arch: str) -> tuple[str, list[str], str, str] | None:
    before = producer(kind, arch)
    if before is None:
        return None
    call = matrix("%dm", "mfma.f64.4x4x4f64", "double", "%da", "%da", "double", "%da")
    lines = [
        *before.lines,
        BARRIER,
        call,
        BARRIER,
        f"store {words(before.words)} %d, ptr addrspace(3) %q",
    ]
    return f"double %da, ptr addrspace(3) %q, {before.arguments}", lines, "double", "%dm"


def _scalar(kind: Kind, role: Role) -> tuple[str, list[str], str, str] | None:
    first = "%d = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %x)"
    setreg = "call void @llvm.amdgcn.s.setreg(i32 961, i32 %s)"  # MODE, offset 15, one bit
    m0 = "call void @llvm.amdgcn.s.ttracedata(i32 %s)"
    load = ("%r = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %b, i32 %y, "
            "i32 %d, i32 0)")  # fmt: skip
    found = {
        (Kind.VALU_SCALAR, Role.SCALAR_VALU): (
            "i32 %x, i32 %y", [first, BARRIER, "%r = add i32 %d, %y"], "i32", "%r"),
        (Kind.VALU_SCALAR, Role.LANE_SELECT): (
            "i32 %x, i32 %y",
            [first, BARRIER, "%r = call i32 @llvm.amdgcn.readlane.i32(i32 %y, i32 %d)"],
            "i32", "%r"),
        (Kind.VALU_SCALAR, Role.DIV_FMAS): (
            "i32 %x, float %a, float %b, float %c",
            ["%d = icmp eq i32 %x, 7", BARRIER,
             "%r = call float @llvm.amdgcn.div.fmas.f32(float %a, float %b, float %c, i1 %d)"],
            "float", "%r"),
        (Kind.VALU_SCALAR, Role.SCALAR_MEMORY): (
            "ptr addrspace(8) inreg %b, i32 %x, i32 %y", [first, BARRIER, load], "i32", "%r"),
        (Kind.SALU_M0, Role.M0): ("i32 inreg %s", [m0], "void", ""),
        (Kind.SETREG, Role.SETREG): (
            "i32 inreg %s",
            [setreg, BARRIER, "%r = call i32 @llvm.amdgcn.s.getreg(i32 961)"], "i32", "%r"),
    }  # fmt: skip
    return found.get((kind, role))


MISSING = {"gfx90a": (Role.SWAP, Role.SGEMM_C), "gfx942": (Role.SWAP,)}
"""Roles that no instruction of the chip has."""


def snippets(arch: str) -> list[Snippet]:
    """One function for each cell, also those of 0 slots, that this module knows how to ask for."""
    out = []
    for kind, row in zip(Kind, needs(arch), strict=True):
        for role in Role if any(row) else ():
            if role in MISSING.get(arch, ()):
                continue
            parts = special(kind, role, arch)
            if parts is None:
                before = producer(kind, arch)
                after = before and consumer(role, before.words)
                if not before or not after:
                    continue
                both = ", ".join(part for part in (before.arguments, after[0]) if part)
                parts = both, [*before.lines, BARRIER, *after[1]], after[2], after[3]
            name = f"{kind.name}__{role.name}"
            out.append(Snippet(name, kind, role, function(name, *parts)))
    return out


def gaps() -> str:
    """Two gfx950 functions, as a module, at which LLVM 22 inserts too few slots."""
    half, cd = "<4 x half>", "<4 x float>"
    accumulator = function(
        "accumulator",
        f"{cd} %c, {half} %a, <8 x half> %b",
        [matrix("%m", "mfma.f32.16x16x32.f16", "<8 x half>", "%b", "%b", cd, "%c"), BARRIER,
         matrix("%r", "mfma.f32.16x16x16f16", half, "%a", "%a", cd, "%m")],
        cd,
        "%r",
    )  # fmt: skip
    before, after = producer(Kind.XDL16, "gfx950"), consumer(Role.VALU, 32)
    nops = [f"call void @llvm.amdgcn.s.nop(i16 {count})" for count in (15, 2)]
    lines = [*before.lines, BARRIER, *nops, BARRIER, *after[1]]
    late = function("late", f"{before.arguments}, {after[0]}", lines, "float", "%r")
    return "\n".join(['target triple = "amdgcn-amd-amdhsa"', accumulator, late, KERNEL])


KERNEL = """define amdgpu_kernel void @kernel() {
  ret void
}

attributes #0 = { nounwind }
"""
"""What makes a module a code object, and the attributes of the functions."""


def module(arch: str) -> str:
    """All snippets as one IR module, with a kernel that makes it a code object."""
    lines = [snippet.text for snippet in snippets(arch)]
    return "\n".join(['target triple = "amdgcn-amd-amdhsa"', *lines, KERNEL])
