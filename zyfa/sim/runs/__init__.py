"""A run from code object to result: functional, timed, recorded, replayed."""
