"""The demo: a small web application whose tasks index the standard library, and a stage to show it on."""
