-- delete_batch_members: delete the member rows of these batches.
DELETE FROM oxpull_batch_member WHERE batch_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
