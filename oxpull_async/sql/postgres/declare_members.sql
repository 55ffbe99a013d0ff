-- declare_members: have the end of tasks counted that became members after they had been enqueued.
WITH locked AS MATERIALIZED (
    SELECT t.id FROM oxpull_task t
     WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) ORDER BY t.id FOR UPDATE
)
UPDATE oxpull_task AS t
   SET batch_id = (SELECT m.batch_id FROM oxpull_batch_member m WHERE m.task_id = t.id ORDER BY m.batch_id LIMIT 1)
  FROM locked
 WHERE t.id = locked.id AND t.batch_id IS NULL
