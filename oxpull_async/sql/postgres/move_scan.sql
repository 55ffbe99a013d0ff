-- move_scan: the next rows of the old task table by id, with their status; settled ones only if asked for.
SELECT t.id::text, t.status
  FROM django_ox_oxtask t
 WHERE t.id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
   AND (t.status IN ('READY', 'RUNNING', 'WAITING')
        OR :settled::boolean AND t.status IN ('SUCCESSFUL', 'FAILED', 'DISCARDED', 'LOST'))
 ORDER BY t.id LIMIT (SELECT :limit::int)
