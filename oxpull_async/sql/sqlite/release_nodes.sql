-- release_nodes: make rows ready that waited for edges, due now or when they were asked for.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET status = 'READY', waiting_for = NULL, available_at = max(:now, COALESCE(run_after, :now)),
       due = CASE WHEN run_after > :now THEN 0 ELSE 1 END
 WHERE id IN (SELECT value FROM json_each(:ids)) AND waiting_for = 'edges'
