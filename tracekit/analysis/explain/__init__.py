"""The page of a kernel: why its matrix pipe idles, which instruction, what to try."""
