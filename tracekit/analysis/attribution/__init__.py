"""Why the matrix pipe is idle: what the wave did that ends each bubble."""
