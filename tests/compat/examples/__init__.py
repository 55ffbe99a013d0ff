"""The example projects of docs/examples, run as their pages say: migrated, served, worked for, asked by HTTP."""
