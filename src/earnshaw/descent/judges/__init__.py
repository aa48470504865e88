"""Judges: who decides what became of a lane."""
