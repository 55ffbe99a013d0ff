-- lock_keys: lock the lock rows of these keys in order; returns them as `find_holders` does.
SELECT u.unique_key, u.holder_id::text, u.follow_up_id::text, u.expires_at <= :now,
       current_setting('transaction_isolation')
  FROM oxpull_unique u
 WHERE u.unique_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
 ORDER BY u.unique_key FOR UPDATE
