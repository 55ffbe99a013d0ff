-- declare_members: have the end of tasks counted that became members after they had been enqueued.
WITH n AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:members::text::json) AS n(task_id uuid, batch_id uuid)
), locked AS MATERIALIZED (
    SELECT t.id FROM oxpull_task t WHERE t.id = ANY(ARRAY(SELECT n.task_id FROM n)) ORDER BY t.id FOR UPDATE
)
UPDATE oxpull_task AS t SET batch_id = n.batch_id
  FROM locked, n
 WHERE t.id = locked.id AND n.task_id = locked.id AND t.batch_id IS NULL
