-- test_repeated: one name in several places.
SELECT :first, :second, concat(:first, :second)
