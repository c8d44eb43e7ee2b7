"""Dash app over tracekit."""
