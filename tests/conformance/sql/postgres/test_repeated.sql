-- test_repeated: one name in several places.
SELECT :first::text, :second::text, :first::text || :second::text
