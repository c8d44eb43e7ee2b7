"""Two sides of a comparison: what is measured of a run, and how far it is known."""
