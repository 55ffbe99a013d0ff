-- pass_ticks: settle a schedule's ticks up to an instant that has come, where nobody was faster; matches one row, or none.
UPDATE oxpull_schedule
   SET last_tick_at = CAST(:reached AS DATETIME(6)), next_at = CAST(:next_at AS DATETIME(6)), version = version + 1,
       last_task_id = COALESCE(:task_id, last_task_id)
 WHERE id = :id AND version = :version AND NOT paused
   AND CAST(:reached AS DATETIME(6)) <= :now
