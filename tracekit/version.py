"""The version of tracekit; pyproject.toml has the same (a test compares them)."""

VERSION = "0.1.0"
