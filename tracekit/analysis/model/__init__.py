"""What analyses share: SIMDs, intervals, windows, loops, iterations, what waves do."""
