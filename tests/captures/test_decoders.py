"""Both decoders on every raw stream of the shared captures."""

import numpy as np
import pytest

from tracekit.capture.opening import read_stream
from tracekit.sqtt.decode import decode, native_core

# Tokens of all streams of a capture: MISC, TIME, REG, REG_CS, REG_CS_PRIV, WAVE_START,
# WAVE_END, ISSUE, INST, PERF.
COUNTS = {
    "wave_gemm_bf16_gfx950": (38526, 419, 1248, 304, 576, 256, 256, 3503, 3072, 622),
    "aiter_fp4_gemm_gfx950_before": (265559, 56, 84, 21, 52, 416, 416, 205291, 180792, 0),
    "aiter_fp4_gemm_gfx950_after": (243229, 52, 84, 21, 52, 416, 416, 217168, 181080, 0),
    "tinygrad_gemm_gfx950": (5904, 112, 54, 54, 72, 192, 192, 251, 200, 0),
    "tinygrad_empty_gfx950": (699, 39, 18, 22, 20, 1, 1, 0, 0, 0),
}
ORDER = (0, 1, 2, 5, 15, 3, 6, 13, 10, 14)


@pytest.fixture(params=list(COUNTS))
def streams(request, captures):
    files = sorted((captures / request.param).glob("att/*.att"))
    return request.param, [read_stream(path) for path in files]


def test_token_counts(streams):
    name, files = streams
    counts = sum(decode(f.read(), f.header.target_cu).token_counts for f in files)
    assert tuple(counts[list(ORDER)].tolist()) == COUNTS[name]
    assert counts.sum() == sum(COUNTS[name])


@pytest.mark.slow
@pytest.mark.skipif(native_core() is None, reason="the native decoder is switched off")
def test_native_equals_python(streams):
    _, files = streams
    for stream in files:
        data, cu = stream.read(), stream.header.target_cu
        one, other = decode(data, cu, "python"), decode(data, cu, "native")
        for fact, value in vars(one).items():
            theirs = getattr(other, fact)
            if isinstance(value, dict):
                assert all(np.array_equal(value[key], theirs[key]) for key in value), fact
            else:
                assert np.array_equal(value, theirs), fact
