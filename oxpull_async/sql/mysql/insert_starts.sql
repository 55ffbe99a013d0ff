-- insert_starts: note the starts of rows just leased, under sliding limits.
INSERT INTO oxpull_rate_start (name, limit_key, started_at, task_id, epoch, expires_at)
SELECT n.name, n.limit_key, t.last_attempted_at, t.id, t.epoch,
       t.last_attempted_at + INTERVAL ROUND(n.per * 1000000) MICROSECOND
  FROM JSON_TABLE(:starts, '$[*]' COLUMNS (
            name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.name' ERROR ON ERROR,
            limit_key VARCHAR(16) CHARACTER SET ascii PATH '$.limit_key' ERROR ON ERROR,
            task_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.task_id' ERROR ON ERROR,
            per DOUBLE PATH '$.per' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = n.task_id
