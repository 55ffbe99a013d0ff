-- stats: how many rows each queue has in each status.
SELECT queue_name, status, count(*) FROM oxpull_task
 WHERE backend_alias = :backend_alias::text GROUP BY queue_name, status
