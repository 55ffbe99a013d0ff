-- lock_keys: lock the lock rows of these keys in order; returns the keys that have one.
SELECT u.unique_key FROM oxpull_unique u
 WHERE u.unique_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
 ORDER BY u.unique_key FOR UPDATE
