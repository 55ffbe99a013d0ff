-- lock_free_keys: lock those lock rows of these keys that nobody else has locked; returns their keys.
SELECT u.unique_key FROM oxpull_unique u
 WHERE u.unique_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
 ORDER BY u.unique_key FOR UPDATE SKIP LOCKED
