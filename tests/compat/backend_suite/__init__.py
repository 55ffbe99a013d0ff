"""What Django expects of a task backend, shown on ours."""
