-- prune_scan: the next rows by id, and whether each has a prunable status and ended more than `age` seconds ago.
SELECT t.id::text, t.status = ANY(ARRAY(SELECT jsonb_array_elements_text(:statuses::text::jsonb)))
             AND t.finished_at < :now - make_interval(secs => :age::float8)
  FROM oxpull_task t
 WHERE t.id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
 ORDER BY t.id LIMIT (SELECT :limit::int)
