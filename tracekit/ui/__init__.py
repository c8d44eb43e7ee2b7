"""Readers of decoded ``ui_output_*`` directories, one module a schema."""
