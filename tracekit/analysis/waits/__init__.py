"""Which memory operation each wait waits for."""
