"""Captures whose every issue is planned: real streams with numbers known by construction.

``run`` lets the samples' issue model place the instructions, ``Plan`` lets a test place
them.  Both go through the encoder, so what is read back has passed the decoder.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import tracekit
from tracekit.gfx9 import Inst
from tracekit.sqtt.serializer import ClockModel
from tracekit.sqtt.wave_writer import Executed, barrier, endpgm, immediate, write_wave
from tracekit.sqtt.writer import StreamWriter
from traces import generate
from traces.sample_model import OPCODES, Decision, Kind, Line, Machine, Opcode, Step

OPCODES.update(
    {
        "v_mfma_f32_16x16x4_f32": Opcode(8, Inst.VALU_MAI, Kind.MFMA, busy=32),
        "v_mfma_f32_16x16x32_bf16": Opcode(8, Inst.VALU_MAI, Kind.MFMA, busy=16),
        "v_mfma_f32_16x16x16_bf16": Opcode(8, Inst.VALU_MAI, Kind.MFMA, busy=16),
        "v_mfma_f32_32x32x64_f8f6f4": Opcode(8, Inst.VALU_MAI, Kind.MFMA, busy=64),
        "v_max3_f32": Opcode(8, Inst.VALU_64, Kind.ALONE),
        "v_cvt_pk_fp8_f32": Opcode(8, Inst.VALU_64, Kind.TRANSCENDENTAL, busy=8, cost=8),
        "v_ashr_pk_u8_i32": Opcode(8, Inst.VALU_64, Kind.ALONE),
        "ds_write_b128": Opcode(8, Inst.LDS, Kind.LDS, busy=20, cost=20),
        "s_ttracedata": Opcode(4, Inst.OTHER_MSG, Kind.INTERNAL),
    }
)
CLOCK = ClockModel(base=0x0245_ADF8_0000, phase=1, subticks=(3, 0, 2))


@dataclass
class Plan:
    """One wave whose instructions the test places: ``plan.at(time, text, ...)`` in order.

    ``time``: issue (s_waitcnt, s_nop: completion; s_barrier: arrival).  ``stall``: first
    refused attempt.  Lines are shared by text within ``kernel``; ``line`` picks another.
    """

    kernel: list[Line]
    simd: int
    slot: int
    begin: int
    steps: list[Step] = field(default_factory=list)

    def at(self, time, line, *, stall=None, release=None, taken=True):
        opcode = self.kernel[line].opcode
        if opcode.kind is Kind.BARRIER:
            record = barrier(time, release, stall)
        elif opcode.kind is Kind.INTERNAL:
            record = immediate(time)
        elif opcode.kind is Kind.ENDPGM:
            record = endpgm(time, stall)
        else:
            kind = Inst.NEXT if opcode.kind is Kind.BRANCH and not taken else opcode.type
            record = Executed(kind, time, opcode.cost, stall)
        self.steps.append(Step(line, record))
        return self


def lines(*texts):
    """Kernel lines: "label: text -> target" where there are labels."""
    found = []
    for text in texts:
        label, _, rest = text.rpartition(": ")
        body, _, target = rest.partition(" -> ")
        found.append(Line(body, label=label, target=target))
    return found


def run(folder, kernel, *, slots=2, starts=None, simds=4):
    """A capture of ``kernel`` on the issue model; returns (path, executed waves)."""
    if starts is None:
        starts = {
            (simd, slot): generate.FIRST_START + generate.START_GAP * (slot * simds + turn)
            for slot in range(slots)
            for turn, simd in enumerate(generate.SIMD_ORDER[:simds])
        }
    waves = Machine(kernel, starts, generate.LAUNCH).run()
    return write(folder, kernel, waves), waves


def write(
    folder, kernel, waves, *, arch="gfx950", before_waves=None, after_waves=None, name="plan"
):
    """Write a capture of ``waves`` (Plan or sample_model.Wave) into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    sample = generate.Sample(name, kernel, list(waves))
    writer = StreamWriter(target_cu=generate.CU, se=generate.SE, clock=CLOCK)
    writer.agent_info(1104, realtime_khz=generate.REALTIME_KHZ)
    writer.code_object_load(
        2400, generate.CODE_OBJECT, generate.LOAD_ADDRESS, generate.LOAD_SIZE, from_start=True
    )
    if before_waves is not None:
        before_waves(writer)
    entry = generate.LOAD_ADDRESS + generate.ENTRY
    first = min(wave.begin for wave in waves)
    writer.dispatch(first - 40, entry, (64 * len(waves), 1, 1), rsrc1=15, rsrc2=4)
    for wave in waves:
        records = [step.record for step in wave.steps]
        write_wave(writer, wave.simd, wave.slot, wave.begin, records)
    if after_waves is not None:
        after_waves(writer)
    (folder / "1000_1_shader_engine_0_1.att").write_bytes(writer.finish())
    (folder / "code.json").write_text(generate.listing(sample))
    (folder / "meta.json").write_text(json.dumps({"arch": arch, "synthetic": True}))
    return folder


def timeline(path, **options):
    return tracekit.open(path).timeline(**options)


def loop_taken(count) -> Decision:
    return lambda slot, visit: visit + 1 < count


def issued(waves, simd, slot):
    """(text-less) steps of one wave of ``run``."""
    return next(w for w in waves if (w.simd, w.slot) == (simd, slot)).steps
