-- move_delete: delete these old rows, which the caller has locked.
DELETE FROM django_ox_oxtask t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
