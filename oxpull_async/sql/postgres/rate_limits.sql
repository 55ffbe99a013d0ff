-- rate_limits: what workers declare, each declaration once: alias, name, most, per, sliding, tasks, queues.
SELECT DISTINCT l.backend_alias, l.name, l.most, l.per, l.sliding, l.tasks::text, l.queues::text FROM oxpull_rate_limit l
