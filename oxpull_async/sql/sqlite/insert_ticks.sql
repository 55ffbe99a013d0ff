-- insert_ticks: note ticks of a schedule and what they enqueue; those that were noted before stay; matches the new ones.
INSERT INTO oxpull_tick (backend_alias, name, tick_at, task_id, created_at)
SELECT :backend_alias, :name, json_extract(n.value, '$.tick_at'), json_extract(n.value, '$.task_id'), :now
  FROM json_each(:ticks) AS n
 WHERE true
ON CONFLICT (backend_alias, name, tick_at) DO NOTHING
