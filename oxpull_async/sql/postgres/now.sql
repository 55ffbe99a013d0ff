-- now: the one instant of a statement; the test kit moves it by clock_offset seconds.
(statement_timestamp() + make_interval(secs => :clock_offset::float8))
