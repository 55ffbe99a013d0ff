-- inserted_tasks: when these rows were enqueued and from when on they may be claimed; for databases without RETURNING.
SELECT t.id, t.enqueued_at, t.available_at
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
