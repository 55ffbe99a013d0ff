"""One suite over every connection: each promise of the contract and of the store, one test."""
