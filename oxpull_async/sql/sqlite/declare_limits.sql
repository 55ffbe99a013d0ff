-- declare_limits: write the rate limits that a worker declares.
INSERT INTO oxpull_rate_limit (worker_id, name, backend_alias, most, per, sliding, tasks, queues)
SELECT :worker_id, json_extract(j.value, '$.name'), :backend_alias, json_extract(j.value, '$.most'),
       json_extract(j.value, '$.per'), json_extract(j.value, '$.sliding'), json_extract(j.value, '$.tasks'),
       json_extract(j.value, '$.queues')
  FROM json_each(:limits) AS j
