"""The command line, in this process where that is enough and in processes of its own where it is not."""
