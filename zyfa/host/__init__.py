"""The torch side: FlashAttention's functions, their checks, and launches on a device."""
