-- prunable_tasks: lock those of these rows, not locked by anybody else, that may go: they have a prunable status and age,
-- no unexpired unique key names them, no follow-up is to be looked at and no batch or workflow still counts on them.
SELECT t.id
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
 WHERE JSON_CONTAINS(:statuses, JSON_QUOTE(t.status))
   AND t.finished_at < :now - INTERVAL ROUND(:age * 1000000) MICROSECOND
   AND (:backend_alias IS NULL OR t.backend_alias = :backend_alias)
   AND t.recheck IS NULL
   AND NOT EXISTS (SELECT 1 FROM oxpull_unique u
                    WHERE u.unique_key = t.unique_key AND u.holder_id = t.id AND u.expires_at > :now)
   AND NOT EXISTS (SELECT 1 FROM oxpull_batch_member m JOIN oxpull_batch_counts c ON c.batch_id = m.batch_id
                    WHERE m.task_id = t.id AND c.status <> 'COMPLETE')
   AND NOT EXISTS (SELECT 1 FROM oxpull_workflow_node n JOIN oxpull_workflow_counts c ON c.workflow_id = n.workflow_id
                    WHERE n.task_id = t.id AND c.status <> 'COMPLETE')
   FOR UPDATE SKIP LOCKED
