"""One Django migration for each version of the core's schema, by the same name."""
