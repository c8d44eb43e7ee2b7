"""Decoded directories: the JSON that AMD's tools make of a stream, to the same tables."""
