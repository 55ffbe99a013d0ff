-- delete_batch_counts: delete the counts of these batches.
DELETE FROM oxpull_batch_counts WHERE batch_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
