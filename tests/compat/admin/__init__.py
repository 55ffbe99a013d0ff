"""The admin's pages, asked for by Django's test client."""
