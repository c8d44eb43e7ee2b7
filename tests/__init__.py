"""The tests; a package only so that they can share ``tests.support``."""
