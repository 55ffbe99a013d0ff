-- test_repeated: one name in several places.
SELECT :first, :second, :first || :second
