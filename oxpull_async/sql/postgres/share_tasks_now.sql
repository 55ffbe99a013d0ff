-- share_tasks_now: lock these rows against changes, without waiting; the caller undoes it at once.
-- Refused where another transaction is writing one, or has changed one since this transaction's snapshot began.
SELECT t.id::text FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
 ORDER BY t.id FOR SHARE NOWAIT
