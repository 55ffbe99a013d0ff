"""The documentation says what the code does: generated pages are current, and printed examples run."""
