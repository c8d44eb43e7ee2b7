"""The gfx9 thread-trace stream: framing, time, waves, program counters, encoding."""
