-- prune_scan: the next rows by id, and whether each has a prunable status and ended more than `age` seconds ago.
SELECT t.id, JSON_CONTAINS(:statuses, JSON_QUOTE(t.status))
             AND t.finished_at < :now - INTERVAL ROUND(:age * 1000000) MICROSECOND
             AND (:backend_alias IS NULL OR t.backend_alias = :backend_alias)
  FROM oxpull_task AS t FORCE INDEX (PRIMARY)
 WHERE :after IS NULL OR t.id > :after
 ORDER BY t.id LIMIT :limit
