-- get_batches: these batches: id, alias, name, status, how many members, how many of them are counted as what, callbacks,
-- and when it was made, sealed and completed.
SELECT b.id::text, b.backend_alias, b.name, c.status, COALESCE(c.total, b.members), c.succeeded, c.failed, c.unattributed,
       b.callbacks::text, to_json(b.created_at) #>> '{}', to_json(b.sealed_at) #>> '{}', to_json(c.completed_at) #>> '{}'
  FROM oxpull_batch b JOIN oxpull_batch_counts c ON c.batch_id = b.id
 WHERE b.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
