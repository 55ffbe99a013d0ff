-- mark_members: give the member rows of these tasks a recheck mark: their tasks have ended.
UPDATE oxpull_batch_member AS m SET recheck = 1
 WHERE m.task_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
