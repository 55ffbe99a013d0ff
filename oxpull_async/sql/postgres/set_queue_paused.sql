-- set_queue_paused: pause or resume the claims of a queue; matches one row if that changed something, else none.
INSERT INTO oxpull_queue AS q (backend_alias, queue_name, paused, changed_at)
VALUES (:backend_alias::text, :queue_name::text, :paused::boolean, :now)
ON CONFLICT (backend_alias, queue_name) DO UPDATE SET paused = EXCLUDED.paused, changed_at = EXCLUDED.changed_at
 WHERE q.paused <> EXCLUDED.paused
