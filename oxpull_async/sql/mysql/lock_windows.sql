-- lock_windows: lock the rate windows of this list in the order given; whoever counts a start holds them. Returns name and key.
SELECT w.name, w.limit_key
  FROM JSON_TABLE(:windows, '$[*]' COLUMNS (
            name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.name' ERROR ON ERROR,
            limit_key VARCHAR(16) CHARACTER SET ascii PATH '$.limit_key' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_rate_window AS w FORCE INDEX (PRIMARY) ON w.name = n.name AND w.limit_key = n.limit_key COLLATE ascii_bin
   FOR UPDATE
