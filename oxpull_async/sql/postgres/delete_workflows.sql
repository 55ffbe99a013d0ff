-- delete_workflows: delete these workflows.
DELETE FROM oxpull_workflow WHERE id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
