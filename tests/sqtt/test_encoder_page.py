"""docs/encoder.md: its example runs and writes what it says."""

import re
from pathlib import Path

from tracekit.gfx9 import INST_IMMED, Inst
from tracekit.sqtt.decode import decode

PAGE = Path(__file__).resolve().parents[2] / "docs" / "encoder.md"


def test_the_example_writes_the_wave_it_lists():
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    scope: dict[str, object] = {}
    exec(example, scope)
    raw = decode(scope["data"], target_cu=1, implementation="python")
    assert raw.waves["begin"].tolist() == [1100]
    assert list(zip(raw.type.tolist(), raw.issue.tolist(), raw.stall.tolist(), strict=True)) == [
        (Inst.SALU_32, 1500, -1),
        (INST_IMMED, 1540, -1),
        (Inst.VALU_MAI, 1544, -1),
        (Inst.VALU_32, 1552, 1548),
        (Inst.OTHER_MSG, 1560, -1),
        (INST_IMMED, 1600, -1),
        (Inst.OTHER_MSG, 1604, -1),
    ]
    assert raw.epochs["base"].tolist() == [0x0245ADF80000]
