"""The kernels of the samples, as data: ``KERNELS[name]`` is a list of lines.

Both samples do the same work, eight MFMAs and a softmax-like stretch of vector work an
iteration and wave, with a barrier after each.  They differ in one thing: in ``pingpong``
the second wave of each SIMD passes one barrier more before its loop (and the first one
more after it), so that one wave's MFMAs run beside the other's vector work.
"""

from __future__ import annotations

from traces.sample_model import Decision, Line

ITERATIONS = 8
MFMAS = 8
#: Multiply-adds and exponentials of a vector phase: 24 * 4 + 8 * 8 = 160 cycles of the
#: vector port, of which a saturated matrix pipe leaves 24 free beside each MFMA.
FMAS, EXPS = 24, 8


def loops(count: int) -> Decision:
    """A loop branch: taken until the body ran ``count`` times."""
    return lambda slot, visit: visit + 1 < count


def of_slot(number: int) -> Decision:
    """Taken by the waves of one slot (waves 0-3 are slot 0, waves 4-7 slot 1)."""
    return lambda slot, visit: slot == number


def matrix_phase(count: int = MFMAS) -> list[Line]:
    """MFMAs on two accumulators in turn."""
    return [
        Line(f"v_mfma_f32_32x32x16_bf16 {acc}, v[64:67], v[68:71], {acc}")
        for acc in ("v[0:15]", "v[16:31]") * (count // 2)
    ]


def vector_phase(fmas: int = FMAS, exps: int = EXPS) -> list[Line]:
    """Scale and shift, then exponentials; no register of the MFMAs."""
    return [
        *(Line(f"v_fma_f32 v{80 + i}, v{80 + i}, v72, v73") for i in range(fmas)),
        *(Line(f"v_exp_f32_e32 v{80 + i}, v{80 + i}") for i in range(exps)),
    ]


def prologue() -> list[Line]:
    """The number of the wave in s3, a kernel argument, the loop count in s4."""
    return [
        Line("s_load_dwordx2 s[0:1], s[0:1], 0x0", latency=200),
        Line("v_lshrrev_b32_e32 v1, 6, v0"),
        Line("v_readfirstlane_b32 s3, v1"),
        Line("s_waitcnt lgkmcnt(0)"),
        Line(f"s_mov_b32 s4, {ITERATIONS}"),
    ]


def loop(body: list[Line]) -> list[Line]:
    head, *rest = body
    return [
        Line(head.text, label="loop", latency=head.latency, refused=head.refused),
        *rest,
        Line("s_sub_u32 s4, s4, 1"),
        Line("s_cmp_lg_u32 s4, 0"),
        Line("s_cbranch_scc1", target="loop", taken=loops(ITERATIONS)),
    ]


def body() -> list[Line]:
    barrier = Line("s_barrier")
    return [*matrix_phase(), barrier, *vector_phase(), Line("s_nop 0"), barrier]


def lockstep() -> list[Line]:
    return [*prologue(), Line("s_barrier"), *loop(body()), Line("s_endpgm")]


def pingpong() -> list[Line]:
    """``loop`` starts a phase later in waves 4-7; waves 0-3 pass the odd barrier at the end."""
    return [
        *prologue(),
        Line("s_cmp_lt_u32 s3, 4"),
        Line("s_cbranch_scc1", target="loop", taken=of_slot(0)),
        Line("s_barrier"),
        *loop(body()),
        Line("s_cmp_lt_u32 s3, 4"),
        Line("s_cbranch_scc0", target="end", taken=of_slot(1)),
        Line("s_barrier"),
        Line("s_endpgm", label="end"),
    ]


KERNELS = {"pingpong": pingpong, "lockstep": lockstep}
