"""Promises under crashes and races, as functions of their size."""
