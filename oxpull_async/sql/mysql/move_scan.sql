-- move_scan: the next rows of the old task table by id, with their status; settled ones only if asked for.
SELECT t.id, t.status
  FROM django_ox_oxtask AS t FORCE INDEX (PRIMARY)
 WHERE (:after IS NULL OR t.id > :after)
   AND (t.status IN ('READY', 'RUNNING', 'WAITING')
        OR :settled AND t.status IN ('SUCCESSFUL', 'FAILED', 'DISCARDED', 'LOST'))
 ORDER BY t.id LIMIT :limit
