"""What the hardware does not track: registers touched, wait states, checks."""
