-- find_rechecks: tasks that carry a recheck mark, with their keys.
SELECT t.id::text, t.unique_key FROM oxpull_task t WHERE t.recheck = 1 ORDER BY t.id LIMIT :limit::int
