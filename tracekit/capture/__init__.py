"""Find and open what people have: streams, decoded directories, listings, metadata."""
