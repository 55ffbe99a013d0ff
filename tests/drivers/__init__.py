"""Tests of the native drivers, each with its own database."""
