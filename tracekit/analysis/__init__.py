"""Analyses: pure functions from a Timeline to a table; they read no file and print nothing."""
