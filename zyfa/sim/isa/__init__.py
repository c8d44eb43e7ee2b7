"""What each instruction does to a wave: text, operands, execution."""
