"""Two connections, named interleavings."""
