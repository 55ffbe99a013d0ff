-- find_rechecks: tasks that carry a recheck mark and do not run, with their keys.
SELECT t.id, t.unique_key FROM oxpull_task AS t FORCE INDEX (oxpull_task_leased)
 WHERE t.leased_by IS NULL AND t.recheck = 1 ORDER BY t.id LIMIT :limit
