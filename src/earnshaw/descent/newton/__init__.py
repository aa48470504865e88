"""Newton's method: the last mile, critical points of any kind, tips, and where a creeping run will end."""
