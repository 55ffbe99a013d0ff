"""What operators do from Django: the actions and the commands."""
