"""What the page of unique tasks promises, as a Django project sees it."""
