-- promote: put deferred rows whose time has come into the ready index; matches at most `limit` rows.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET due = 1
 WHERE id IN (
    SELECT t.id FROM oxpull_task AS t INDEXED BY oxpull_task_deferred
     WHERE t.due = 0 AND t.available_at <= :now
     ORDER BY t.available_at LIMIT :limit)
