-- claim_ages: for how many seconds these rows have been claimed.
SELECT t.id::text, EXTRACT(EPOCH FROM :now - t.last_attempted_at)::float8 FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
