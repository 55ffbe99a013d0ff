-- insert_windows: make the rate windows of this list, in the order given, where there are none.
INSERT INTO oxpull_rate_window (name, limit_key, started_at, used, expires_at)
SELECT n.name, n.limit_key, '1970-01-01 00:00:00', 0, :now
  FROM JSON_TABLE(:windows, '$[*]' COLUMNS (
            name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.name' ERROR ON ERROR,
            limit_key VARCHAR(16) CHARACTER SET ascii PATH '$.limit_key' ERROR ON ERROR)) AS n
    ON DUPLICATE KEY UPDATE oxpull_rate_window.used = oxpull_rate_window.used
