-- claim_ages: for how many seconds these rows have been claimed.
SELECT t.id, (julianday(:now) - julianday(t.last_attempted_at)) * 86400.0
  FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE t.id IN (SELECT value FROM json_each(:ids))
