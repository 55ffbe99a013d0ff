-- settle_locked: write successes that returned nothing, on running rows that `lock_outcomes` has locked.
-- Beside `settle` because an update of one table, by a list of ids, takes half the time of one by a join.
UPDATE oxpull_task AS t FORCE INDEX (PRIMARY)
   SET t.status = 'SUCCESSFUL', t.due = NULL, t.finished_at = :now, t.return_value = 'null',
       t.recheck = IF(t.reruns, 1, t.recheck), t.begun = false, t.leased_by = NULL
 WHERE t.id IN :ids AND t.status = 'RUNNING'
