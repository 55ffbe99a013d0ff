-- lock_counts: lock the counts of these batches in order; returns batch, status, total, counts, whether cancelled.
SELECT c.batch_id::text, c.status, c.total, c.succeeded, c.failed, c.unattributed, c.cancelled
  FROM oxpull_batch_counts c
 WHERE c.batch_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
 ORDER BY c.batch_id FOR UPDATE
