"""Streams and listings as columns: the documented tables of a Timeline."""
