"""The schema: applied alone or by several at once, interrupted, repeated, and in both forms of ids."""
