-- test_session: which session this is.
SELECT pg_backend_pid()
