-- move_statuses: which of these old rows are there, and in which status.
SELECT t.id::text, t.status
  FROM django_ox_oxtask t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
