"""What the code must look like: layers, budgets, vocabulary, docstrings, public names."""
