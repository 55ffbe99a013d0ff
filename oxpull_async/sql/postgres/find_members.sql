-- find_members: which of these tasks are members of a batch, whose row the caller has locked.
SELECT m.task_id::text FROM oxpull_batch_member m
 WHERE m.task_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND m.batch_id = :batch_id::text::uuid
