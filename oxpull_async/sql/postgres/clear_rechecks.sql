-- clear_rechecks: take the recheck marks off.
UPDATE oxpull_task AS t SET recheck = NULL
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) AND t.recheck = 1
