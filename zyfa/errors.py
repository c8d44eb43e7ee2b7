"""What zyfa raises for users: one line, no traceback from the command line."""

from __future__ import annotations

from tracekit.errors import TracekitError


class ZyfaError(TracekitError):
    """Base of zyfa's own errors; exit code 1."""


class ToolchainError(ZyfaError):
    """No assembler, or it refused the source."""


class UnsupportedError(ZyfaError, NotImplementedError):
    """A FlashAttention feature that zyfa does not have; the message names it."""
