-- insert_keys: lock the lock rows of the keys of this JSON list, in its order, and insert those that are missing.
-- The update changes nothing. It makes a taken key no error, and its lock one that need not be raised later.
INSERT INTO oxpull_unique (unique_key, holder_id, first_at, expires_at)
SELECT n.unique_key, n.holder_id, :now, :now + INTERVAL ROUND(n.ttl * 1000000) MICROSECOND
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (
            unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$.unique_key' ERROR ON ERROR,
            holder_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.holder_id' ERROR ON ERROR,
            ttl DOUBLE PATH '$.ttl' ERROR ON ERROR)) AS n
    ON DUPLICATE KEY UPDATE oxpull_unique.unique_key = oxpull_unique.unique_key
