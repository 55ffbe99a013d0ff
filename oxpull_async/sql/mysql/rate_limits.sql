-- rate_limits: what workers declare, each declaration once: alias, name, most, per, sliding, tasks, queues.
SELECT DISTINCT l.backend_alias, l.name, l.most, l.per, l.sliding, CAST(l.tasks AS CHAR), CAST(l.queues AS CHAR)
  FROM oxpull_rate_limit AS l
