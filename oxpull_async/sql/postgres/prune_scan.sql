-- prune_scan: the next rows by id, and whether each has a prunable status and ended more than `age` seconds ago.
SELECT t.id::text, t.status = ANY(ARRAY(SELECT jsonb_array_elements_text(:statuses::text::jsonb)))
             AND t.finished_at < :now - make_interval(secs => :age::float8)
             AND (:backend_alias::text IS NULL OR t.backend_alias = :backend_alias::text)
  FROM oxpull_task t
 WHERE t.id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
 ORDER BY t.id LIMIT (SELECT :limit::int)
