-- mark_rechecks: note that the follow-ups of these ended tasks could not be looked at, because a key was locked.
UPDATE oxpull_task AS t SET recheck = 1
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
