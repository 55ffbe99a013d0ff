"""Tests of the blocking side: the shim and Django's connection."""
