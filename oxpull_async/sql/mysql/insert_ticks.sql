-- insert_ticks: note ticks of a schedule and what they enqueue; those that were noted before stay; matches the new ones.
INSERT INTO oxpull_tick (backend_alias, name, tick_at, task_id, created_at)
SELECT :backend_alias, :name, n.tick_at, n.task_id, :now
  FROM JSON_TABLE(:ticks, '$[*]' COLUMNS (
            tick_at DATETIME(6) PATH '$.tick_at' ERROR ON ERROR,
            task_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.task_id' NULL ON EMPTY)) AS n
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_tick AS t
                    WHERE t.backend_alias = :backend_alias AND t.name = :name AND t.tick_at = n.tick_at)
