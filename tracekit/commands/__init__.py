"""Subcommands: one module each, whose ``command`` is a click command, and a line here."""

#: name -> one-line help, in the order of ``tracekit --help``.
COMMANDS = {
    "doctor": "What this installation can do, and what is missing.",
    "capture": "Record a thread trace with rocprofv3, and show its occupancy.",
    "info": "What a capture holds: streams, kernels, waves, architecture.",
    "check": "Whether a capture can be trusted, why, and what to change.",
    "occupancy": "How busy the matrix pipe and the vector pipe of each SIMD are.",
    "explain": "Why it idles, at which instruction, what to try: one page.",
    "loops": "The loops that the waves ran, and cycles per iteration.",
    "budget": "What an iteration costs each pipe, the bound and the verdict.",
    "bubbles": "Why the matrix pipe is idle: bubbles with causes.",
    "memory": "Bytes per iteration and per cycle, and what they say.",
    "waits": "Which load each s_waitcnt waits for, and how early it was issued.",
    "overlap": "Whether the waves of a SIMD take turns (ping-pong).",
    "hotspots": "Where the time goes, per line of code; rocprofv3's stats CSV.",
    "compare": "What a change did, with noise bounds; a gate for CI.",
    "shapes": "MFMA opcodes: share of peak, half rates; hazard time.",
    "counters": "SQ counters in the trace beside the decoded counts.",
    "clock": "The shader clock over time.",
    "markers": "Marker scopes and the pipes inside each.",
    "export": "Write pftrace, parquet, speedscope, HTML or the RCV directory.",
    "dashboard": "Browse timelines, bubble maps and comparisons in a browser.",
    "bundle": "Put a capture into one archive to share.",
    "listing": "Disassemble a code object to a code.json, for machines without LLVM.",
    "waves": "One row per traced wave.",
    "instructions": "One row per executed instruction.",
}
