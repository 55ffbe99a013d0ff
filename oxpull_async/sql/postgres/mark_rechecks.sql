-- mark_rechecks: give these rows a recheck mark: what they wait for may have happened already.
UPDATE oxpull_task AS t SET recheck = 1
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
