-- clear_member_marks: take the recheck marks off the member rows of these tasks.
UPDATE oxpull_batch_member AS m SET recheck = NULL
 WHERE m.task_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) AND m.recheck = 1
