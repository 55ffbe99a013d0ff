-- find_follow_ups: the follow-ups that wait for holders that have ended or are gone. The caller has locked the keys.
SELECT u.follow_up_id
  FROM oxpull_unique AS u INDEXED BY sqlite_autoindex_oxpull_unique_1
 CROSS JOIN oxpull_task AS f INDEXED BY sqlite_autoindex_oxpull_task_1 ON f.id = u.follow_up_id
  LEFT JOIN oxpull_task AS h INDEXED BY sqlite_autoindex_oxpull_task_1 ON h.id = u.holder_id
 WHERE u.unique_key IN (SELECT value FROM json_each(:keys))
   AND f.waiting_for = 'follow_up'
   AND (h.id IS NULL OR h.status NOT IN ('READY', 'WAITING', 'RUNNING'))
