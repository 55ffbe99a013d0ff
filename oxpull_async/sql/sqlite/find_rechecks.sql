-- find_rechecks: tasks that carry a recheck mark, with their keys.
SELECT t.id, t.unique_key FROM oxpull_task AS t INDEXED BY oxpull_task_recheck
 WHERE t.recheck = 1 ORDER BY t.id LIMIT :limit
