"""The samples and what writes them: ``python -m traces.generate``, ``python -m traces.zyfa``."""
