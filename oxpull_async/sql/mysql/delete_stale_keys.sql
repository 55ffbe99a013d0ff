-- delete_stale_keys: delete these lock rows, which the caller has locked, where they are still stale.
DELETE u
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_unique AS u FORCE INDEX (PRIMARY) ON u.unique_key = j.unique_key
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_task AS f
                    WHERE f.id = u.follow_up_id AND f.waiting_for = 'follow_up')
   AND CASE WHEN u.expires_at IS NOT NULL THEN u.expires_at <= :now
            ELSE NOT EXISTS (SELECT 1 FROM oxpull_task AS t
                              WHERE t.id = u.holder_id AND t.status IN ('READY', 'WAITING', 'RUNNING')) END
