-- stats: how many rows each queue has in each status.
SELECT queue_name, status, COUNT(*) FROM oxpull_task
 WHERE backend_alias = :backend_alias GROUP BY queue_name, status
