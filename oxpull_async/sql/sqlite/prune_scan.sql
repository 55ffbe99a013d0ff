-- prune_scan: the next rows by id, and whether each has a prunable status and ended more than `age` seconds ago.
SELECT t.id, t.status IN (SELECT value FROM json_each(:statuses))
             AND t.finished_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
             AND (:backend_alias IS NULL OR t.backend_alias = :backend_alias)
  FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE t.id > COALESCE(:after, '')
 ORDER BY t.id LIMIT :limit
