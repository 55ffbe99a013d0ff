-- test_literals: what looks like a placeholder and is none: :comment %s ?
SELECT '100%', '%s', 'a:b :text', 'it''s ?', 17 % 5, 'abc' LIKE 'a%'
