"""Which registers an instruction reads and writes, by its text alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from zyfa.sim.isa.syntax import Operand, Syntax, parse
from zyfa.sim.state.registers import EXEC, M0, SCC, VCC

NO_DESTINATION = re.compile(
    r"s_(cmp|cmpk|bitcmp|cbranch|branch|nop|waitcnt|set|sleep|barrier|endpgm|ttrace|dcache|icache"
    r"|send|trap|code_end|setpc|incperf|decperf)"
    r"|ds_(write|add_[uf]|sub_u|and_b|or_b|xor_b|inc_u|dec_u|min_|max_|cmpst_b|wrxchg_b)"
    r"|(global|flat|scratch|buffer)_(store|wbl2|inv)"
    r"|v_nop|v_cmpx?_.*_sdwa_nodst"
)
TWO_DESTINATIONS = re.compile(
    r"v_(add_co|sub_co|subrev_co|addc_co|subb_co|subbrev_co|mad_u64_u32|mad_i64_i32|div_scale)"
)
READS_DESTINATION = re.compile(
    r"v_(fmac|mac_|dot\w*c_|pk_fmac|smfmac|writelane|swap|permlane\d+_swap)|s_(addk|mulk|cmov|bitset)"
    r"|\w+_d16"
)
SWAPS = re.compile(r"v_(swap|permlane\d+_swap)")
SETS_SCC = re.compile(
    r"s_(cmp|bitcmp|add|sub|min|max|and|or|xor|nand|nor|xnor|not|lsh|ash|bfe|abs|wqm|bcnt|quadmask)"
)
READS_SCC = re.compile(r"s_(cbranch_scc|cselect|addc|subb|cmov)")


@dataclass(frozen=True)
class Usage:
    """Register numbers (`zyfa.sim.isa.syntax`), without EXEC as the implicit lane mask."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    sources: tuple[Operand, ...]
    destinations: tuple[Operand, ...]


def registers(item: Operand) -> range:
    """Register numbers of one operand."""
    return range(item.base, item.base + item.count) if item.base >= 0 else range(0)


def destination_count(syntax: Syntax) -> int:
    """How many leading operands are written."""
    stem = syntax.stem
    if NO_DESTINATION.match(stem):
        return 0
    if TWO_DESTINATIONS.match(stem):
        return 2
    if re.match(r"(global|flat|buffer)_(load|atomic)", stem):
        if "lds" in syntax.modifiers or "_lds_" in stem:
            return 0
        if "_atomic" in stem and "sc0" not in syntax.modifiers:
            return 0
    if stem.startswith("buffer_atomic"):
        return 1
    return 1


@lru_cache(maxsize=65536)
def usage(text: str) -> Usage:
    """Registers read and written by the instruction `text`."""
    syntax = parse(text)
    stem = syntax.stem
    split = destination_count(syntax)
    written, read = syntax.operands[:split], syntax.operands[split:]
    if SWAPS.match(stem):
        written = read = syntax.operands[:2]
    elif READS_DESTINATION.match(stem) or syntax.modifiers.get("dst_unused") == "UNUSED_PRESERVE":
        read = read + written[:1]
    elif stem.startswith("buffer_atomic"):
        read = syntax.operands
    reads = [r for item in read for r in registers(item)]
    writes = [r for item in written for r in registers(item)]
    if stem.startswith(("s_cbranch_vcc", "v_div_fmas")):
        reads += [VCC, VCC + 1]
    if stem.startswith(("s_cbranch_exec",)) or "saveexec" in stem:
        reads += [EXEC, EXEC + 1]
    if "saveexec" in stem or "wrexec" in stem or stem.startswith("v_cmpx"):
        writes += [EXEC, EXEC + 1]
    if stem == "s_ttracedata" or "lds" in syntax.modifiers or "_load_lds_" in stem:
        reads.append(M0)
    if SETS_SCC.match(stem):
        writes.append(SCC)
    if READS_SCC.match(stem):
        reads.append(SCC)
    return Usage(tuple(dict.fromkeys(reads)), tuple(dict.fromkeys(writes)), read, written)
