"""The loops of a worker: they wait, the store writes, the domain decides."""
