"""The demo: a small web application whose tasks index the standard library, on a stage."""
