"""What `manage.py` can do with tasks."""
