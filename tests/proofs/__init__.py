"""Run every promise at full size and write what came out."""
