-- delete_batches: delete these batches.
DELETE FROM oxpull_batch WHERE id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
