-- find_holders: the lock rows of these keys: key, holder, follow-up, whether it has expired (NULL: it has no ttl), and
-- the isolation level.
SELECT u.unique_key, u.holder_id::text, u.follow_up_id::text, u.expires_at <= :now,
       current_setting('transaction_isolation')
  FROM oxpull_unique u
 WHERE u.unique_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
