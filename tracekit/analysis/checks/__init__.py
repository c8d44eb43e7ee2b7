"""Whether a capture can be trusted: one module a kind of check, and the verdict."""
