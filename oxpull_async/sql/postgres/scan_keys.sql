-- scan_keys: the next lock rows by key, and whether each is stale: nothing holds the key and no follow-up waits for it.
SELECT u.unique_key,
       f.id IS NULL AND CASE WHEN u.expires_at IS NOT NULL THEN u.expires_at <= :now
                                       ELSE t.id IS NULL OR t.status NOT IN ('READY', 'WAITING', 'RUNNING') END
  FROM oxpull_unique u LEFT JOIN oxpull_task t ON t.id = u.holder_id
  LEFT JOIN oxpull_task f ON f.id = u.follow_up_id AND f.waiting_for = 'follow_up'
 WHERE u.unique_key > :after::text ORDER BY u.unique_key LIMIT :limit::int
