-- delete_locks: delete these lock rows of running locks, which the caller has locked.
DELETE FROM oxpull_lock WHERE lock_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
