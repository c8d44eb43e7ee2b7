"""``tracekit mcp``: the JSON of commands for coding agents, read-only and within folders."""
