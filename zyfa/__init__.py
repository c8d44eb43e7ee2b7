"""FP8 and BF16 causal prefill attention for gfx950."""
