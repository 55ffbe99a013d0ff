"""A project of django-ox and its oxpull app moves over."""
