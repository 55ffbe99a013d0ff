"""Orders, and what happens to them in the background."""
