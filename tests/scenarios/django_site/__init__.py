"""A Django site that measures itself while requests wait in it; `python -m` runs it in a process of its own."""
