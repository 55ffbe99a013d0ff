"""The contract between the store and the drivers, and the loading of SQL statements."""
