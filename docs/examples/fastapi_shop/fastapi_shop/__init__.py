"""The shop of ../django_shop in FastAPI and SQLAlchemy, on the same database and the same rows."""
