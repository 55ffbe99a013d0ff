-- move_free_keys: delete the old lock rows of these keys.
DELETE FROM oxpull_oxpulluniquelock l
 WHERE l.key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
