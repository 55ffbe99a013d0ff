-- release_nodes: make rows ready that waited for edges, due now or when they were asked for.
UPDATE oxpull_task AS t
   SET status = 'READY', waiting_for = NULL, available_at = GREATEST(:now, t.run_after),
       due = CASE WHEN t.run_after > :now THEN 0 ELSE 1 END
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) AND t.waiting_for = 'edges'
