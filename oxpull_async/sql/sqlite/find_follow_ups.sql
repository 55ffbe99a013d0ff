-- find_follow_ups: the follow-ups of these keys whose holder has ended or is gone. The caller has locked the keys.
SELECT u.follow_up_id
  FROM oxpull_unique AS u INDEXED BY sqlite_autoindex_oxpull_unique_1
  LEFT JOIN oxpull_task AS h INDEXED BY sqlite_autoindex_oxpull_task_1 ON h.id = u.holder_id
 WHERE u.unique_key IN (SELECT value FROM json_each(:keys))
   AND u.follow_up_id IS NOT NULL
   AND (h.id IS NULL OR h.status NOT IN ('READY', 'WAITING', 'RUNNING'))
