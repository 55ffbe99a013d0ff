-- delete_stale_keys: delete these lock rows, which the caller has locked, where they are still stale.
DELETE FROM oxpull_unique u
 WHERE u.unique_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS f
                    WHERE f.id = u.follow_up_id AND f.waiting_for = 'follow_up')
   AND CASE WHEN u.expires_at IS NOT NULL THEN u.expires_at <= :now
            ELSE NOT EXISTS (SELECT 1 FROM oxpull_task t
                              WHERE t.id = u.holder_id AND t.status IN ('READY', 'WAITING', 'RUNNING')) END
