-- test_now: the database's clock.
SELECT :now
