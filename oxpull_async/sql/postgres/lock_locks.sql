-- lock_locks: lock the lock rows of these keys in order; whoever parks, takes or frees a slot holds them.
SELECT l.lock_key FROM oxpull_lock l
 WHERE l.lock_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
 ORDER BY l.lock_key FOR UPDATE
