"""A digest (.tkd): what commands say of a capture, kept in a small file without instructions."""
