"""Captures in odd states, written by the encoder: one function a state, folder -> folder."""

import json

from tests.support.planned import CLOCK, Plan, lines, write
from tracekit.sqtt.wave_writer import write_wave
from tracekit.sqtt.writer import StreamWriter
from traces import generate

VECTOR = ("s_waitcnt lgkmcnt(0)", "v_fma_f32 v0, v1, v2, v0", "s_endpgm")
MATRIX = ("v_mfma_f32_32x32x16_bf16 v[0:15], v[16:19], v[20:23], v[0:15]",
          "v_fma_f32 v40, v41, v42, v40", "s_endpgm")  # fmt: skip


def _wave(kernel, simd, slot, begin):
    plan = Plan(kernel, simd, slot, begin)
    plan.at(begin + 400, 0).at(begin + 440, 1).at(begin + 480, 2)
    return plan


def no_wave(folder):
    """Nothing ran on the traced CU."""
    kernel = lines(*MATRIX)
    write(folder, kernel, [_wave(kernel, 0, 0, 6000)])
    writer = StreamWriter(target_cu=generate.CU, se=generate.SE, clock=CLOCK)
    writer.agent_info(1104, realtime_khz=generate.REALTIME_KHZ)
    writer.code_object_load(
        2400, generate.CODE_OBJECT, generate.LOAD_ADDRESS, generate.LOAD_SIZE, from_start=True
    )
    (stream,) = folder.glob("*.att")
    stream.write_bytes(writer.finish())
    return folder


def no_mfma(folder):
    """A kernel without matrix work."""
    kernel = lines(*VECTOR)
    return write(folder, kernel, [_wave(kernel, simd, 0, 6000 + 16 * simd) for simd in range(4)])


def one_wave(folder):
    """One wave on one SIMD, no loop."""
    kernel = lines(*MATRIX)
    return write(folder, kernel, [_wave(kernel, 2, 0, 6000)])


def many_waves(folder):
    """512 short waves: 16 in each of 8 slots of 4 SIMDs."""
    kernel = lines(*MATRIX)
    waves = [
        _wave(kernel, simd, slot, 6000 + 1000 * turn + 64 * slot + 16 * simd)
        for turn in range(16) for slot in range(8) for simd in range(4)
    ]  # fmt: skip
    return write(folder, kernel, waves)


def many_engines(folder):
    """32 shader engines, four SIMDs each."""
    kernel = lines(*MATRIX)
    write(folder, kernel, [_wave(kernel, 0, 0, 6000)])
    for old in folder.glob("*.att"):
        old.unlink()
    for se in range(32):
        writer = StreamWriter(target_cu=generate.CU, se=se, clock=CLOCK)
        writer.code_object_load(
            2400, generate.CODE_OBJECT, generate.LOAD_ADDRESS, generate.LOAD_SIZE, from_start=True
        )
        writer.dispatch(5960, generate.LOAD_ADDRESS + generate.ENTRY, (256, 1, 1))
        for simd in range(4):
            wave = _wave(kernel, simd, 0, 6000 + 16 * simd)
            write_wave(writer, simd, 0, wave.begin, [step.record for step in wave.steps])
        (folder / f"1000_1_shader_engine_{se}_1.att").write_bytes(writer.finish())
    return folder


def missing_source(folder):
    """Every line names a file that is not here."""
    one_wave(folder)
    path = folder / "code.json"
    told = json.loads(path.read_text())
    for row in told["code"][1:]:
        row[3] = "/build/kernel.py:12 -> /build/main.py:3"
    path.write_text(json.dumps(told))
    return folder
