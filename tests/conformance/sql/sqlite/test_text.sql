-- test_text: one text, there and back.
SELECT :text
