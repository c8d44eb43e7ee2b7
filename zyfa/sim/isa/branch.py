"""Program flow and instructions that stay inside the wave.

The scheduler gives s_waitcnt, s_barrier and s_endpgm their meaning; here they change nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from zyfa.sim.isa.access import scalar_getter, scalar_putter
from zyfa.sim.isa.builders import handles
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.isa.salu import signed
from zyfa.sim.state.wave import Wave

CONDITIONS: dict[str, Callable[[Wave], bool]] = {
    "s_cbranch_scc0": lambda w: not w.scc,
    "s_cbranch_scc1": lambda w: bool(w.scc),
    "s_cbranch_vccz": lambda w: not (w.s[106] | w.s[107]),
    "s_cbranch_vccnz": lambda w: bool(w.s[106] | w.s[107]),
    "s_cbranch_execz": lambda w: not w.exec,
    "s_cbranch_execnz": lambda w: bool(w.exec),
}


def target_address(inst: Instruction) -> int:
    """Address that the relative branch goes to."""
    return inst.address + 4 + 4 * signed(inst.operands[-1].number, 16)


def _conditional(condition: Callable[[Wave], bool]) -> Callable[[Instruction], Execute]:
    def build(inst: Instruction) -> Execute:
        target = inst.program.index_of(target_address(inst))

        def run(w: Wave) -> None:
            if condition(w):
                w.next = target

        return run

    return build


for _name, _condition in CONDITIONS.items():
    handles(_name)(_conditional(_condition))
handles("s_branch")(_conditional(lambda w: True))


@handles("s_nop", "s_waitcnt", "s_barrier", "s_endpgm", "s_setprio", "s_sleep", "s_sethalt",
         "s_ttracedata", "s_dcache_wb", "s_dcache_inv", "s_icache_inv", "s_inst_prefetch",
         "buffer_wbl2", "buffer_inv", "s_waitcnt_vscnt", "s_code_end", "s_set_gpr_idx_off",
         "s_dcache_inv_vol", "s_nop_b32", "v_nop", "s_ttracedata_imm")  # fmt: skip
def _nothing(inst: Instruction) -> Execute:
    return lambda w: None


@handles("s_getpc_b64")
def _getpc(inst: Instruction) -> Execute:
    put = scalar_putter(inst.operands[0], True)
    address = inst.address + 4 + inst.program.bias
    return lambda w: put(w, address)


@handles("s_setpc_b64")
def _setpc(inst: Instruction) -> Execute:
    get = scalar_getter(inst.operands[0], True)

    def run(w: Wave) -> None:
        w.next = inst.program.index_of(get(w) - inst.program.bias)

    return run


@handles("s_swappc_b64", "s_call_b64")
def _swappc(inst: Instruction) -> Execute:
    put = scalar_putter(inst.operands[0], True)
    back = inst.address + 4 + inst.program.bias
    if inst.syntax.stem == "s_call_b64":
        target = inst.program.index_of(target_address(inst))

        def call(w: Wave) -> None:
            put(w, back)
            w.next = target

        return call
    get = scalar_getter(inst.operands[1], True)

    def run(w: Wave) -> None:
        target = get(w) - inst.program.bias
        put(w, back)
        w.next = inst.program.index_of(target)

    return run


@handles("s_memtime", "s_memrealtime")
def _memtime(inst: Instruction) -> Execute:
    put = scalar_putter(inst.operands[0], True)
    divisor = 24 if inst.syntax.stem == "s_memrealtime" else 1
    return lambda w: put(w, w.clock // divisor)
