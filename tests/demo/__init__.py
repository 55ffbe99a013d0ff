"""The demo, played small."""
