-- pass_ticks: settle a schedule's ticks up to an instant that has come, where nobody was faster; matches one row, or none.
UPDATE oxpull_schedule
   SET last_tick_at = :reached, next_at = :next_at, version = version + 1,
       last_task_id = COALESCE(:task_id, last_task_id)
 WHERE id = :id AND version = :version AND NOT paused
   AND :reached <= :now
