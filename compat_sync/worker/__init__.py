"""What `manage.py oxpull_worker` runs: the core's worker with Django around its tasks."""
