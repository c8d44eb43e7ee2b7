"""Samples among other files: what people have in their folders, and what happens to it.

``changed`` makes a folder with a sample in it and changes a few things around it; ``verdict``
says whether the occupancy is what it was, or a note names what is to blame.
"""

from __future__ import annotations

import gzip
import json
import pickle
import random
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pandas as pd

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.occupancy import occupancy
from tracekit.build import open_all
from tracekit.errors import TracekitError
from tracekit.export import rcv
from tracekit.sqtt.encode import header_bytes

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "traces"
#: Columns of an occupancy row that a sample keeps under any name.
COMPARED = ("simd", "mfma", "matrix_busy_cycles", "vector_busy_cycles", "matrix_occupancy")

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
NCU_REPORT = b"NVR\0" + bytes(100)
PFTRACE = b"\x0a\x12\x40\x80\x01\x50\x01" + bytes(13) + b"\x0a\x02\x50\x02"
PICKLE = pickle.dumps({"streams": [b"x" * 40]}, protocol=4)
CSV = b"Dispatch_Id,Kernel_Name,Begin\n1,gemm,2\n"
TEXT = b"# notes on the run of monday\nsecond line\n"


def results_json(base: int = 0x1000, number: int = 1, version: int = 90010) -> bytes:
    """rocprofv3's results of another run."""
    return json.dumps({"rocprofiler-sdk-tool": [{
        "code_objects": [{"code_object_id": number, "load_delta": base, "load_size": 4096}],
        "agents": [{"gfx_target_version": version}],
        "kernel_symbols": [{"kernel_id": 1, "kernel_name": "0", "code_object_id": number}],
        "buffer_records": {"kernel_dispatch": [{"dispatch_info": {
            "dispatch_id": 1, "kernel_id": 1, "workgroup_size": {"x": 7, "y": 1, "z": 1}}}]},
    }]}).encode()  # fmt: skip


KERNEL_TRACE = (
    b"Kind,Agent_Id,Dispatch_Id,Kernel_Name,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z\n"
    b"KERNEL_DISPATCH,1,1,other_kernel,7,1,1\n"
)
AGENT_INFO = b"Node_Id,Logical_Node_Id,Agent_Type,Name,Gfx_Target_Version\n1,0,GPU,gfx90a,90010\n"


def database() -> bytes:
    """A rocpd database of another run."""
    with sqlite3.connect(":memory:") as made:
        made.execute("CREATE TABLE rocpd_info_kernel_symbol_1 (id, display_name, kernel_name)")
        made.execute("CREATE TABLE rocpd_kernel_dispatch_1 (id, kernel_id, dispatch_id)")
        made.execute("CREATE TABLE rocpd_info_code_object_1 (id, load_base)")
        made.execute("INSERT INTO rocpd_info_kernel_symbol_1 VALUES (1, '0', '0')")
        made.execute("INSERT INTO rocpd_kernel_dispatch_1 VALUES (1, 1, 1)")
        made.execute("INSERT INTO rocpd_info_code_object_1 VALUES (1, 8192)")
        return made.serialize()


@dataclass
class Changed:
    """A folder with a sample in it; ``named`` are files of which a note may speak, ``added``
    those that are not the sample's.

    ``intact``: the sample's stream and listing are still there.
    """

    root: Path
    sample: str
    intact: bool = True
    named: list[str] = field(default_factory=list)
    added: set[Path] = field(default_factory=set)
    done: list[str] = field(default_factory=list)

    def add(self, folder: Path, names: list[str]) -> None:
        """Files in ``folder`` that are not the sample's."""
        self.named += names
        self.added |= {folder / name for name in names}

    def moved(self, path: Path, target: Path) -> None:
        """``target`` is what ``path`` was."""
        self.named.append(target.name)
        if path in self.added:
            self.added.add(target)

    @property
    def run(self) -> Path:
        """The folder of the stream."""
        return self.root / "run"


#: Samples by what they are: folder of traces, and what of it lies where.
SAMPLES = ("pingpong", "lockstep", "zyfa_gap_lean", "decoded beside", "code object alone")


def placed(root: Path, sample: str) -> Path:
    """The sample in ``root``/run; its listing beside it or in a decoded directory."""
    name = {"decoded beside": "pingpong", "code object alone": "zyfa_gap_lean"}.get(sample, sample)
    keep = shutil.ignore_patterns(
        "README.md", "expected.json", "kernel.s", *(["code.json"] if " " in sample else [])
    )
    run = shutil.copytree(TRACES / name, root / "run", ignore=keep)
    if sample == "decoded beside":
        shutil.copytree(decoded("pingpong"), root / "ui_output_agent_1_dispatch_1")
    return run


@cache
def decoded(name: str) -> Path:
    """A ui_output directory of a sample."""
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="tracekit_ui_")) / "ui_output_agent_1_dispatch_1"
    rcv.write(Analysis(open_all(TRACES / name)[0].timeline("amd")), folder)
    return folder


def stream_of(sample: str) -> bytes:
    name = {"decoded beside": "pingpong", "code object alone": "zyfa_gap_lean"}.get(sample, sample)
    (path,) = (TRACES / name).glob("*.att")
    return path.read_bytes()


@cache
def expected(sample: str) -> pd.DataFrame:
    """The occupancy of a sample among nothing else."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        placed(Path(folder), sample)
        (capture,) = [c for c in open_all(folder) if c.streams]
        return compared(occupancy(capture.timeline(), "span").rows)


def compared(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[list(COMPARED)].reset_index(drop=True)


# What lies beside: each writes into a folder and gives the names that it wrote.


def _file(name: str, content: bytes) -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        path = folder / name
        if path.exists() or path.is_symlink():
            return []
        path.write_bytes(content)
        return [name]

    return write


def _other(name: str, source: str, pattern: str) -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        (path,) = (TRACES / source).glob(pattern)
        return _file(name, path.read_bytes())(folder)

    return write


def _directory(name: str, source: str) -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        if (folder / name).exists():
            return []
        shutil.copytree(decoded(source), folder / name)
        return [name]

    return write


def _link(name: str, target: str) -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        if (folder / name).exists() or (folder / name).is_symlink():
            return []
        (folder / name).symlink_to(target)
        return [name]

    return write


def _empty_folder(name: str) -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        if (folder / name).exists() or (folder / name).is_symlink():
            return []
        (folder / name).mkdir()
        return [name]

    return write


#: What may lie beside a stream without being its own, by what it is.
FOREIGN: dict[str, Callable[[Path], list[str]]] = {
    "results of another process": _file("777_results.json", results_json()),
    "results without a process": _file("results.json", results_json()),
    "results with another base": _file("out_results.json", results_json(0x7F0000000000)),
    "results with other code objects": _file("b_results.json", results_json(4096, 9)),
    "another JSON named results": _file("bench_results.json", b'{"tokens": 3}'),
    "kernel trace of another process": _file("777_kernel_trace.csv", KERNEL_TRACE),
    "kernel trace without a process": _file("kernel_trace.csv", KERNEL_TRACE),
    "agents of another process": _file("777_agent_info.csv", AGENT_INFO),
    "agents without a process": _file("agent_info.csv", AGENT_INFO),
    "agents of another family": _file("agent_info.csv", AGENT_INFO.replace(b"90010", b"110000")),
    "agents, no CSV": _file("x_agent_info.csv", PNG),
    "database": _file("777_results.db", database()),
    "database without a process": _file("run.db", database()),
    "no database": _file("Thumbs.db", PNG),
    "listing of another kernel": _other("code.json", "lockstep", "code.json"),
    "listing of a larger kernel": _other("code.json", "zyfa_serial_exact", "code.json"),
    "listing cut": _file("code.json", b'{"code": [["s_endpgm", 0'),
    "listing without rows": _file("code.json", b'{"code": null}'),
    "no listing": _file("code.json", b"[]"),
    "code object of another process": _other(
        "777_gfx950_code_object_id_1.out", "zyfa_serial_exact", "*.out"
    ),
    "code object without a process": _other(
        "gfx950_code_object_id_1.out", "zyfa_serial_exact", "*.out"
    ),
    "code object with the same process": _other(
        "1_gfx942_code_object_id_1.out", "zyfa_serial_exact", "*.out"
    ),
    "code object of another id": _other(
        "1_gfx950_code_object_id_2.out", "zyfa_serial_exact", "*.out"
    ),
    "empty code object": _file("1_gfx90a_code_object_id_1.out", b""),
    "no code object": _file("1_gfx900_code_object_id_1.out", TEXT),
    "decoded with the same ids": _directory("ui_output_agent_1_dispatch_1", "lockstep"),
    "decoded with other ids": _directory("ui_output_agent_9_dispatch_9", "lockstep"),
    "decoded without ids": _directory("a_ui", "lockstep"),
    "decoded, damaged": _file("filenames.json", b"{"),
    "stream of another process": _other("777_3_shader_engine_0_1.att", "lockstep", "*.att"),
    "stream without a name": _other("other.att", "lockstep", "*.att"),
    "empty stream": _file("777_1_shader_engine_0_1.att", b""),
    "header alone": _file("777_1_shader_engine_2_1.att", header_bytes(target_cu=1)),
    "empty file": _file("empty.att", b""),
    "text": _file("notes.att", TEXT),
    "CSV": _file("table.att", CSV),
    "PNG": _file("picture.att", PNG),
    "pickle": _file("profile.att", PICKLE),
    "Perfetto trace": _file("trace.att", PFTRACE),
    "Nsight report": _file("report.att", NCU_REPORT),
    "short JSON": _file("short.att", b'{"a":1}'),
    "damaged gzip": _file("cut.att.gz", gzip.compress(PNG * 9)[:-12]),
    "gzip of text": _file("notes.att.gz", gzip.compress(TEXT)),
    "link to nowhere": _link("gone.att", "nowhere.att"),
    "listing that leads nowhere": _link("code.json", "nowhere.json"),
    "agents that lead nowhere": _link("agent_info.csv", "nowhere.csv"),
    "folder named as a stream": _empty_folder("folder.att"),
    "folder named as a listing": _empty_folder("code.json"),
    "metadata of another": _file("meta.json", b'{"arch": "gfx90a", "load_base": 4096}'),
    "metadata, a list": _file("meta.json", b"[1]"),
    "metadata cut": _file("meta.json", b'{"arch": '),
}


# What happens to the folder.


def _add(rng: random.Random, state: Changed) -> None:
    kind = rng.choice(list(FOREIGN))
    where = rng.choice((state.run, state.run, state.root, state.run / "more"))
    where.mkdir(exist_ok=True)
    state.add(where, FOREIGN[kind](where))
    state.done.append(f"{kind} in {where.name}")


def _own_files(state: Changed) -> list[Path]:
    return sorted(p for p in state.root.rglob("*") if p.is_file() and not p.is_symlink())


def _is_own_data(state: Changed, path: Path) -> bool:
    """Whether the sample needs the file: stream, listing, code object, decoded directory."""
    return not {path, path.parent} & state.added and (
        ".att" in path.name
        or path.suffix == ".out"
        or "code.json" in path.name
        or path.parent != state.run
    )


def _remove(rng: random.Random, state: Changed) -> None:
    path = rng.choice(_own_files(state))
    _harmed(state, path)
    path.unlink()


def _truncate(rng: random.Random, state: Changed) -> None:
    path = rng.choice(_own_files(state))
    _harmed(state, path)
    content = path.read_bytes()
    path.write_bytes(content[: rng.randrange(len(content) + 1)])


def _swap(rng: random.Random, state: Changed) -> None:
    one, two = rng.choice(_own_files(state)), rng.choice(_own_files(state))
    _harmed(state, one)
    _harmed(state, two)
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def _harmed(state: Changed, path: Path) -> None:
    state.intact &= not _is_own_data(state, path)
    state.named.append(path.name)
    state.done.append(f"harmed {path.name}")


def _link_or_copy(rng: random.Random, state: Changed) -> None:
    """A link to a folder, a link to a stream, a copy of it, or the stream moved behind a link."""
    streams = [p for p in _own_files(state) if p.name.endswith(".att")]
    kind = rng.randrange(4)
    state.done.append(f"link or copy {kind}")
    if kind == 0 or not streams:
        state.add(state.root, _link("latest", "run")(state.root))
        return
    stream = rng.choice(streams)
    if kind == 1:
        state.add(stream.parent, _link("link.att", stream.name)(stream.parent))
    elif kind == 2:
        name = rng.choice(("copy.att", "1_1_shader_engine_3_1.att", "888_1_shader_engine_0_1.att"))
        if not (stream.parent / name).exists():
            shutil.copy(stream, stream.parent / name)
            state.add(stream.parent, [name])
    else:
        store = state.root / "store"
        store.mkdir(exist_ok=True)
        blob = store / f"{len(state.done)}.blob"
        shutil.move(stream, blob)
        stream.symlink_to(blob)


def _compress(rng: random.Random, state: Changed) -> None:
    path = rng.choice(_own_files(state))
    if path.suffix == ".gz":
        return
    state.done.append(f"compressed {path.name}")
    if not path.name.endswith(".att"):
        _harmed(state, path)
    target = path.with_name(path.name + ".gz")
    if not target.exists():
        target.write_bytes(gzip.compress(path.read_bytes()))
        state.moved(path, target)
        if rng.randrange(3):
            path.unlink()


def _rename(rng: random.Random, state: Changed) -> None:
    path = rng.choice(_own_files(state))
    stream = path.name.endswith((".att", ".att.gz"))
    suffix = ".att.gz" if path.suffix == ".gz" else path.suffix
    names = ("renamed", "größe 1", "5_6_shader_engine_0_7", "0")
    target = path.with_name(rng.choice(names) + suffix)
    if target.exists():
        return
    if not stream:
        _harmed(state, path)
    state.done.append(f"renamed {path.name} to {target.name}")
    state.moved(path, target)
    if "5_6" in target.name:  # it says of itself that it is of another process, agent, dispatch
        state.named += [each.name for each in path.parent.iterdir()]
        state.named += [each.name for each in state.root.glob("ui_output_*")]
    path.rename(target)


_STEPS = (_add, _add, _add, _add, _remove, _truncate, _swap, _link_or_copy, _compress, _rename)


def changed(root: Path, rng: random.Random) -> Changed:
    """A sample in ``root``, and one to four changes around it."""
    sample = rng.choice(SAMPLES)
    placed(root, sample)
    state = Changed(root, sample)
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        if _own_files(state):
            rng.choice(_STEPS)(rng, state)
    return state


def verdict(state: Changed) -> None:
    """Raise AssertionError where intact data gives another occupancy without a word."""
    notes: list[str] = []
    found: list[pd.DataFrame] = []
    stream, here = stream_of(state.sample), state.run.resolve()
    try:
        for capture in open_all(state.root):
            try:
                timeline = capture.timeline()
                rows = occupancy(timeline, "span").rows
            except TracekitError as error:
                notes.append(str(error))
                continue
            notes += timeline.notes
            mine = [each for each in capture.streams if each.path.parent.resolve() == here]
            if any(each.read() == stream for each in mine):
                found.append(compared(rows))
    except TracekitError as error:
        notes.append(str(error))
    if not state.intact:
        return
    same = len(found) == 1 and found[0].equals(expected(state.sample))
    if not same and not any(name in note for name in state.named for note in notes):
        raise AssertionError(
            f"{state.sample}: {'; '.join(state.done)}: {len(found)} captures of the stream, "
            f"notes {notes}"
        )
