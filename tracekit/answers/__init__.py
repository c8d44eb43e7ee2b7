"""What Python users ask in one line, and objects that show themselves in a notebook."""
