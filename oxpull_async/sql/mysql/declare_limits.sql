-- declare_limits: write the rate limits that a worker declares.
INSERT INTO oxpull_rate_limit (worker_id, name, backend_alias, most, per, sliding, tasks, queues)
SELECT :worker_id, n.name, :backend_alias, n.most, n.per, n.sliding, n.tasks, n.queues
  FROM JSON_TABLE(:limits, '$[*]' COLUMNS (
            name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.name' ERROR ON ERROR,
            most INT PATH '$.most' ERROR ON ERROR,
            per DOUBLE PATH '$.per' ERROR ON ERROR,
            sliding INT PATH '$.sliding' ERROR ON ERROR,
            tasks LONGTEXT CHARACTER SET utf8mb4 PATH '$.tasks' ERROR ON ERROR,
            queues LONGTEXT CHARACTER SET utf8mb4 PATH '$.queues' ERROR ON ERROR)) AS n
