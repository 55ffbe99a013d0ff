-- promote: put deferred rows whose time has come into the ready index; matches at most `limit` rows.
UPDATE (SELECT d.id FROM oxpull_task AS d FORCE INDEX (oxpull_task_deferred)
         WHERE d.deferred_until <= :now
         ORDER BY d.deferred_until LIMIT :limit FOR UPDATE SKIP LOCKED) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.due = 1
 WHERE t.due = 0
