"""The program under rocprofv3, with the stand-in HIP runtime in place of a device."""

import ctypes
import struct

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

from click.testing import CliRunner  # noqa: E402

from zyfa import chip, jobs, trace  # noqa: E402
from zyfa.codegen import Options, kernargs  # noqa: E402
from zyfa.host import launch, workload  # noqa: E402
from zyfa.host.runtime import Library  # noqa: E402

CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint),
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
)  # fmt: skip


@pytest.mark.parametrize(
    ("units", "length", "heads"), [(256, 2048, 64), (256, 1, 256), (256, 2049, 52), (8, 8192, 1)]
)
def test_heads_give_every_cu_a_job(units, length, heads):
    assert workload.heads_to_fill(units, length) == heads
    per_head = len(jobs.pairs(-(-length // 256)))
    assert heads * per_head >= units > (heads - 1) * per_head


def test_all_launches_run_the_variant_on_every_cu_with_the_inputs_of_the_simulator(standin):
    options, units, length = Options(softmax="lean_u8"), 16, 1024
    seen = []

    def launched(_image, symbol, shape, stream, kernarg, size):
        raw = ctypes.string_at(kernarg, size)
        values = {
            a.name: struct.unpack_from("<" + a.format, raw, a.offset)[0] for a in kernargs.ARGUMENTS
        }
        keys = ctypes.string_at(values["k"], length * values["kv_stride"])
        seen.append((symbol.decode(), shape[0], stream, values["job_count"], keys))
        return 0

    library = Library(standin)
    callback = CALLBACK(launched)
    library.lib.standin_on_launch(callback)
    workload.run(options, length, "sink", torch.device("cpu"), launch.Target(library, 7, units))
    assert len(seen) == chip.LAUNCHES
    assert len(set(seen)) == 1
    symbol, grid, stream, count, keys = seen[0]
    assert (symbol, grid, stream, count) == (options.symbol, 16, 7, 16)
    one = trace.codes("sink", length)[1]
    rows = [one[0, row, 0].tobytes() * 8 for row in range(length)]
    assert keys == b"".join(rows)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device")
def test_without_a_gfx950_it_says_so():
    arguments = ["--variant", "exact", "--seqlen", "256", "--input", "sink"]
    done = CliRunner().invoke(workload.command, arguments)
    assert done.exit_code == 1
    assert "no gfx950" in done.output
