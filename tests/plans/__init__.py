"""Query plans: what the hot statements read does not grow with what has ended or is not due yet."""
