-- lock_members: lock the member rows of these tasks in order; returns task, batch, and what it is counted as.
SELECT m.task_id::text, m.batch_id::text, m.counted FROM oxpull_batch_member m
 WHERE m.task_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
 ORDER BY m.task_id, m.batch_id FOR UPDATE
