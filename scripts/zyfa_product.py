"""Every kernel variant x length x heads x input on the simulator against the twin, bit for bit.

The full product takes days on one core; CI runs the pairwise selection of
tests/zyfa/test_simulate.py. Prints one line a failure and a summary; exit code 1 if anything
differed. All results *simulated*.

    python scripts/zyfa_product.py [--sample N | --minutes M] [--seed S]
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import sys
import time

import numpy as np
import torch

from zyfa import simulate
from zyfa.codegen import Options, all_options
from zyfa.host.quantize import fp8_quantize
from zyfa.reference import inputs, twin
from zyfa.shape import D128

LENGTHS = (1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 384, 511, 512, 513, 640,
           767, 768, 769, 1000, 1023, 1024)  # fmt: skip
SHAPES = ((1, 1, 1), (2, 1, 1), (1, 4, 1), (1, 4, 4), (2, 8, 1), (1, 8, 2))
"""(batch, query heads, key heads)."""
SCALE = D128.d_qk**-0.5


def equal(options: Options, length: int, shape: tuple[int, int, int], data: str) -> bool:
    pairs = [fp8_quantize(x) for x in inputs.make(data, shape[0], length, *shape[1:])]
    tensors, descales = [x for x, _ in pairs], tuple(d for _, d in pairs)
    codes = [x.view(torch.uint8).numpy() for x in tensors]
    done = simulate.attention(*codes, SCALE, [float(d) for d in descales], options)
    out, lse = twin(*tensors, SCALE, descales, options.softmax, options.rowsum)
    bits = out.view(torch.int16).numpy().view(np.uint16)
    return np.array_equal(done.out, bits) and np.array_equal(done.lse, lse.numpy())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="a random selection of this many cases")
    parser.add_argument("--minutes", type=float, help="start no case after this long; random order")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    cases = list(itertools.product(all_options(), LENGTHS, SHAPES, inputs.INPUTS))
    product = len(cases)
    if chosen.sample or chosen.minutes:
        cases = random.Random(chosen.seed).sample(cases, chosen.sample or product)
    end = time.monotonic() + 60 * chosen.minutes if chosen.minutes else math.inf
    done = failed = 0
    for options, length, shape, data in cases:
        if time.monotonic() > end:
            break
        done += 1
        try:
            good = equal(options, length, shape, data)
        except Exception as error:
            good = False
            print(f"{options.name} {length} {shape} {data}: {error}")
        if not good:
            failed += 1
            print(f"{options.name} {length} {shape} {data}: differs", flush=True)
    print(f"{done} of {product} cases, {failed} failed (simulated)")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
