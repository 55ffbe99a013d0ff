-- test_session: which session this is.
SELECT connection_id()
