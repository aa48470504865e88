"""earnshaw."""
