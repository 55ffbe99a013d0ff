-- test_literals_and_value: the same beside a real value.
SELECT '100%', '%s', 'a:b :text', 'it''s ?', 17 % 5, 'abc' LIKE 'a%', :text
