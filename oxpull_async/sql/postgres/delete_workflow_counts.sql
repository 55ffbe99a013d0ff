-- delete_workflow_counts: delete the counts of these workflows.
DELETE FROM oxpull_workflow_counts WHERE workflow_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
