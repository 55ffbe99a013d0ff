"""The public API, on all three databases."""
