-- promote: put deferred rows whose time has come into the ready index; matches at most `limit` rows.
-- The planner cannot see the LIMIT, so it takes the order of the index instead of sorting.
UPDATE oxpull_task SET due = 1
 WHERE id = ANY(ARRAY(
    SELECT t.id FROM oxpull_task t
     WHERE t.due = 0 AND t.available_at <= :now
     ORDER BY t.available_at LIMIT (SELECT :limit::int) FOR UPDATE SKIP LOCKED))
