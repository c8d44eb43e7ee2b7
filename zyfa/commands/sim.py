"""`zyfa sim`: run a code object, or replay a capture, on the simulator."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

SIZES = "one, two or three comma-separated numbers"


@click.command("sim")
@click.argument("kernel", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--name", help="Kernel of the code object; needed when it has several.")
@click.option("--grid", default="1", show_default=True, help=f"Workgroups: {SIZES}.")
@click.option("--block", default="64", show_default=True, help=f"Workitems: {SIZES}.")
@click.option(
    "--args", "arguments", default="",
    help="Comma-separated: 12, 0.5f, FILE.npy, or zeros:f32:1024, random:f32:1024, "
    "random:u8:64x128 (shapes by x). Types: u8 i8 u16 f16 i32 u32 f32 i64 f64.",
)  # fmt: skip
@click.option("--functional", is_flag=True, help="No timing; only issue slots are counted.")
@click.option("--workgroups", default="", help="Numbers to run, such as 0,3,8-11 (default: all).")
@click.option("--dynamic-lds", default=0, help="Bytes of dynamic LDS.")
@click.option("-o", "--capture", type=click.Path(path_type=Path), help="Write a thread trace here.")
@click.option("--save", type=click.Path(path_type=Path), help="Folder for argN.npy of the outputs.")
@click.option("--parameters", "show", is_flag=True, help="Print the timing parameters and stop.")
@click.option("--set", "settings", type=click.Path(exists=True, dir_okay=False),
              help="TOML file of parameter overrides.")  # fmt: skip
@click.option("--replay", type=click.Path(exists=True), help="Replay a capture instead.")
@click.option("--seed", default=0, show_default=True, help="Of random: arguments.")
def command(**options: Any) -> None:
    """Run KERNEL.co: numbers, cycles of one CU, and a thread trace that tracekit reads.

    All times are simulated shader cycles.
    """
    from zyfa.sim.timing.parameters import Parameters

    path = options["settings"]
    if options["show"]:
        return _print_parameters(Parameters.from_toml(path) if path else Parameters())
    if options["replay"]:
        return _replay(options["replay"], path)
    if not options["kernel"]:
        raise click.UsageError("give a code object, --replay CAPTURE or --parameters")
    return _run(options, Parameters.from_toml(path) if path else Parameters())


def _run(options: dict[str, Any], parameters: Any) -> None:
    import numpy as np

    from zyfa import sim

    rng = np.random.default_rng(options["seed"])
    arguments = [argument(text, rng) for text in options["arguments"].split(",") if text]
    with click.progressbar(length=1, label="workgroups", file=sys.stderr) as b:

        def progress(done: int, total: int) -> None:
            b.length = total
            b.update(done - b.pos)

        result = sim.run(
            options["kernel"], options["name"], arguments, grid=numbers(options["grid"]),
            block=numbers(options["block"]), workgroups=ranges(options["workgroups"]),
            dynamic_lds=options["dynamic_lds"], timing=not options["functional"],
            parameters=parameters, capture=options["capture"], progress=progress,
        )  # fmt: skip
    click.echo(f"instructions  {result.instructions}")
    if result.timing is not None:
        click.echo(f"cycles        {result.cycles} (simulated, one CU)")
        click.echo(f"LDS conflicts {result.timing.conflicts} extra passes")
        for number, intervals in enumerate(result.timing.matrix):
            busy = sum(end - begin for begin, end, *_ in intervals)
            if busy:
                window = intervals[-1][1] - intervals[0][0]
                click.echo(
                    f"SIMD {number}        matrix pipe busy {busy} of {window} cycles from the "
                    f"first MFMA to the last ({100 * busy / window:.1f} %, simulated)"
                )
    if result.capture is not None:
        click.echo(f"capture       {result.capture}")
    for number, output in enumerate(result.outputs):
        if output is not None:
            flat = " ".join(str(x) for x in output.reshape(-1)[:4])
            click.echo(f"arg{number}          {output.dtype} {output.shape}: {flat} ...")
            if options["save"] is not None:
                options["save"].mkdir(parents=True, exist_ok=True)
                np.save(options["save"] / f"arg{number}.npy", output)


def _print_parameters(parameters: Any) -> None:
    from zyfa.sim.timing.parameters import TABLE

    click.echo(f"# {parameters.arch}, hash {parameters.digest}")
    for name, item in TABLE.items():
        bad = f", bad end {item.bad}" if item.bad is not None else ""
        value = parameters.values[name]
        click.echo(f"{name} = {value}  # {item.unit}; {item.confidence}{bad}; {item.source}")


def _replay(path: str, settings: str | None) -> None:
    import tomllib

    import numpy as np

    from zyfa.sim.runs.replay import replay

    overrides = tomllib.loads(Path(settings).read_text()) if settings else None
    found = replay(path, overrides)
    naive = replay(path, {"ports": 0}, lds_given=True)
    click.echo(f"capture            {found.capture} ({found.arch}, {found.waves} waves)")
    if len(found.iterations):
        errors = np.abs(found.errors)
        middle = np.median(found.iterations[:, 0])
        click.echo(f"loop iterations    {len(errors)}, median {middle:.0f} cycles measured")
        click.echo(f"median error       {100 * found.median_error:.2f} % "
                   f"(90th percentile {100 * np.quantile(errors, 0.9):.1f} %, "
                   f"bias {100 * found.bias:+.1f} %)")  # fmt: skip
        click.echo(f"naive model        {100 * naive.median_error:.2f} %")
    if len(found.occupancy):
        measured, predicted = found.occupancy.mean(axis=0)
        click.echo(f"matrix occupancy   {measured:.1f} % measured, {predicted:.1f} % simulated")
    click.echo(f"exact steps        {100 * found.steps:.1f} % of instructions")


def numbers(text: str) -> tuple[int, ...]:
    """`4,2` as (4, 2)."""
    try:
        return tuple(int(item) for item in text.split(","))
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not a list of numbers") from error


def ranges(text: str) -> list[int] | None:
    """`0,3,8-11` as a list; None for the empty text."""
    found: list[int] = []
    for item in text.split(",") if text else []:
        low, _, high = item.partition("-")
        found += range(int(low), int(high or low) + 1)
    return found or None


TYPES = {
    "u8": "uint8", "i8": "int8", "u16": "uint16", "f16": "float16", "i32": "int32",
    "u32": "uint32", "f32": "float32", "i64": "int64", "f64": "float64",
}  # fmt: skip


def argument(text: str, rng: Any) -> Any:
    """One kernel argument from the command line."""
    import numpy as np

    if text.endswith(".npy"):
        return np.load(text)
    kind, _, rest = text.partition(":")
    if rest:
        dtype, _, shape = rest.partition(":")
        if dtype not in TYPES or kind not in ("zeros", "random"):
            raise click.BadParameter(f"{text!r}: expected zeros:TYPE:SHAPE or random:TYPE:SHAPE")
        sizes = tuple(int(item) for item in shape.split("x"))
        if kind == "zeros":
            return np.zeros(sizes, TYPES[dtype])
        if dtype.startswith("f"):
            return rng.normal(size=sizes).astype(TYPES[dtype])
        return rng.integers(0, 127, sizes).astype(TYPES[dtype])
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return np.float32(text.rstrip("f"))
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is neither a number nor a .npy file") from error
