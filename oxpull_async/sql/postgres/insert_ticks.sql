-- insert_ticks: note ticks of a schedule and what they enqueue; those that were noted before stay; matches the new ones.
INSERT INTO oxpull_tick (backend_alias, name, tick_at, task_id, created_at)
SELECT :backend_alias::text, :name::text, n.tick_at AT TIME ZONE 'UTC', n.task_id, :now
  FROM json_to_recordset(:ticks::text::json) AS n(tick_at timestamp, task_id uuid)
 ORDER BY n.tick_at
ON CONFLICT (backend_alias, name, tick_at) DO NOTHING
