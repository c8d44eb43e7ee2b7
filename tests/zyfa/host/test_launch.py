"""The HIP path end to end: a stand-in runtime checks every argument and runs the simulator."""

import ctypes
import math
import struct

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

from zyfa import jobs, sim  # noqa: E402
from zyfa.codegen import Options, kernargs  # noqa: E402
from zyfa.host import launch  # noqa: E402
from zyfa.host.quantize import fp8_quantize  # noqa: E402
from zyfa.host.runtime import Library  # noqa: E402
from zyfa.reference import inputs, twin  # noqa: E402

STREAM = 0x5EED0
UNITS = 8
SCALE = 0.09
CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint),
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
)  # fmt: skip


def array_at(address, count, dtype):
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype)


class Device:
    """Answers launches like a GPU whose memory is the host's."""

    def __init__(self, options, batch, rows, heads, kv_heads):
        self.options, self.shape = options, (batch, rows, heads, kv_heads)
        self.launches = []
        self.error = None
        self.callback = CALLBACK(self.launched)

    def launched(self, _image, symbol, shape, stream, kernarg, size):
        try:
            self.run(symbol, list(shape[:7]), stream, ctypes.string_at(kernarg, size))
        except Exception as error:
            self.error = error
            return 1
        return 0

    def run(self, symbol, shape, stream, raw):
        batch, rows, heads, kv_heads = self.shape
        assert symbol.decode() == self.options.symbol
        assert shape == [UNITS, 1, 1, 512, 1, 1, 0]
        assert stream == STREAM
        assert len(raw) == kernargs.SIZE
        values = {
            a.name: struct.unpack_from("<" + a.format, raw, a.offset)[0] for a in kernargs.ARGUMENTS
        }
        items = batch * heads * -(-(rows // 256) // 2)
        expected = {
            "scale_log2e": np.float32(SCALE * math.log2(math.e)), "job_count": items,
            "q_stride": heads * 128, "kv_stride": kv_heads * 128, "out_stride": heads * 256,
            "grid": UNITS,
        }  # fmt: skip
        assert {key: values[key] for key in expected} == expected
        rows_of = {"q": heads, "out": heads, "k": kv_heads, "v": kv_heads}
        args = []
        for a in kernargs.ARGUMENTS:
            if a.format != "Q":
                args.append(np.float32(values[a.name]) if a.format == "f" else values[a.name])
                continue
            dtype, count = np.uint8, batch * rows * rows_of.get(a.name, 0) * 128
            if a.name == "out":
                dtype = np.uint16
            elif a.name == "lse":
                dtype, count = np.float32, batch * heads * rows
            elif a.name == "jobs":
                dtype, count = np.uint32, items * 2 * jobs.ITEM.itemsize // 4
            elif "descale" in a.name:
                dtype, count = np.float32, 1
            args.append(array_at(values[a.name], count, dtype))
        self.launches.append(values)
        code = launch.code_object(self.options)
        sim.run(code, symbol.decode(), args, grid=UNITS, block=512)


@pytest.mark.parametrize("length", [256, 100])
def test_call_reaches_the_kernel_and_back(standin, length):
    options = Options()
    library = Library(standin)
    device = Device(options, 1, 256, 2, 1)
    library.lib.standin_on_launch(device.callback)
    pairs = [fp8_quantize(x) for x in inputs.make("sink", 1, length, 2, 1)]
    tensors, descales = [x for x, _ in pairs], tuple(d for _, d in pairs)
    out, lse = launch.attention(
        tuple(tensors), descales, SCALE, options, launch.Target(library, STREAM, UNITS)
    )
    assert device.error is None
    assert len(device.launches) == 1
    expected, expected_lse = twin(*tensors, SCALE, descales)
    assert torch.equal(out, expected)
    assert torch.equal(lse, expected_lse)
    seen = device.launches[0]
    assert seen["v_descale"] == descales[2].data_ptr()
    if length == 256:
        assert seen["q"] == tensors[0].data_ptr(), "whole tiles are not copied"


def test_job_table_is_built_once_per_shape():
    problem = jobs.Problem(1, 512, 2, 1)
    first = launch.job_table(problem, torch.device("cpu"))
    assert launch.job_table(jobs.Problem(1, 512, 2, 1), torch.device("cpu")) is first
    assert first.numpy().tobytes() == jobs.table(problem).tobytes()


def test_padding_appends_zero_rows_and_keeps_whole_tiles():
    x = torch.ones(1, 300, 2, 128).to(torch.float8_e4m3fn)
    padded = launch.padded(x)
    assert padded.shape == (1, 512, 2, 128)
    assert torch.equal(padded[:, :300].float(), x.float())
    assert padded[:, 300:].float().abs().max() == 0
    assert launch.padded(padded) is padded
