"""One module a phase of the kernel; each function returns its lines."""
