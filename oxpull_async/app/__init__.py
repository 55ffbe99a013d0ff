"""What users hold: Oxpull, its tasks, transactions and results."""
