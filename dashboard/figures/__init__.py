"""Plotly figures of the pages."""
