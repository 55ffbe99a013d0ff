-- now: the one instant of a statement, in UTC; the test kit moves it by clock_offset seconds.
(UTC_TIMESTAMP(6) + INTERVAL ROUND(:clock_offset * 1000000) MICROSECOND)
