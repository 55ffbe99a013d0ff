-- promote: put deferred rows whose time has come into the ready index; matches at most `limit` rows.
UPDATE oxpull_task SET due = 1
 WHERE id = ANY(ARRAY(
    SELECT t.id FROM oxpull_task t
     WHERE t.due = 0 AND t.available_at <= :now
     ORDER BY t.available_at LIMIT :limit::int FOR UPDATE SKIP LOCKED))
