"""What to try: a table of rules, each with the numbers that make it fire.

A rule is a function of the evidence that gives advice or nothing.  None speaks of a gain: no
number here says what a change would bring.
"""

from __future__ import annotations

from collections.abc import Callable

from tracekit.analysis.budget import AT_BOUND
from tracekit.analysis.explain import issue_rules, stall_rules, wait_rules
from tracekit.analysis.explain.evidence import Evidence
from tracekit.analysis.explain.page import Advice
from tracekit.analysis.explain.rules import percent

Rule = Callable[[Evidence], Advice | None]


def nothing_left(evidence: Evidence) -> Advice | None:
    """The schedule is at its bound: only other code can be faster."""
    simds = evidence.budget
    simds = simds[simds["best"].notna() & simds["verdict"].notna()]
    if (
        evidence.iteration is None
        or not len(simds)
        or not (simds["achieved"] >= AT_BOUND * simds["best"]).all()
    ):
        return None
    achieved, best = float(simds["achieved"].min()), float(simds["best"].mean())
    limit = str(simds["limit"].mode().iloc[0])
    rest = (
        "only less matrix work helps" if limit == "matrix" else "ask less of it, or run more waves"
    )
    return Advice(
        "nothing_left",
        f"nothing left to gain from another order: {percent(achieved)} of a bound of "
        f"{percent(best)} set by {limit}; {rest}",
        {"achieved": achieved, "best": best},
        (),
    )


#: In the order in which they are shown.
RULES: dict[str, Rule] = {
    "prefetch_distance": wait_rules.prefetch_distance,
    "wait_with_count": wait_rules.wait_with_count,
    "lds_read_ahead": wait_rules.lds_read_ahead,
    "lds_bursts": issue_rules.lds_bursts,
    "lds_bandwidth": issue_rules.lds_bandwidth,
    "vmem_pressure": issue_rules.vmem_pressure,
    "few_waves": issue_rules.few_waves,
    "lock_step": issue_rules.lock_step,
    "barrier_skew": stall_rules.barrier_skew,
    "bank_conflicts": stall_rules.bank_conflicts,
    "instruction_fetch": stall_rules.instruction_fetch,
    "packed_beside_mfma": issue_rules.packed_beside_mfma,
    "nops": issue_rules.nops,
    "half_rate": issue_rules.half_rate,
    "outside_loop": issue_rules.outside_loop,
}


#: Rules about other code, which hold also where no other order helps.
OTHER_CODE = ("lds_bandwidth", "bank_conflicts", "half_rate")


def advice(evidence: Evidence) -> tuple[Advice, ...]:
    """The advice of every rule that fires; where no other order helps, that first and only what
    other code could do."""
    done = nothing_left(evidence)
    rules = RULES if done is None else {name: RULES[name] for name in OTHER_CODE}
    found = (done, *(rule(evidence) for rule in rules.values()))
    return tuple(each for each in found if each is not None)
