-- pass_ticks: settle a schedule's ticks up to an instant that has come, where nobody was faster; matches one row, or none.
UPDATE oxpull_schedule
   SET last_tick_at = :reached::text::timestamp AT TIME ZONE 'UTC', next_at = :next_at::text::timestamp AT TIME ZONE 'UTC', version = version + 1,
       last_task_id = COALESCE(:task_id::text::uuid, last_task_id)
 WHERE id = :id::text::uuid AND version = :version::bigint AND NOT paused
   AND :reached::text::timestamp AT TIME ZONE 'UTC' <= :now
