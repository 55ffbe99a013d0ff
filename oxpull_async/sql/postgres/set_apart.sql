-- set_apart: let these rows be found in the lanes of rate limits, those that are due and have no limit keys yet.
UPDATE oxpull_task AS c SET limit_keys = ''
 WHERE c.id = ANY(ARRAY(
    SELECT t.id FROM oxpull_task t
     WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
       AND t.due = 1 AND t.limit_keys IS NULL
     ORDER BY t.id FOR UPDATE SKIP LOCKED))
