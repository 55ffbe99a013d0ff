-- lock_windows: lock the rate windows of this list in order; whoever counts a start holds them. Returns name and key.
SELECT w.name, w.limit_key FROM oxpull_rate_window w
 WHERE (w.name, w.limit_key) IN (
    SELECT n.name, n.limit_key FROM json_to_recordset(:windows::text::json) AS n(name text, limit_key text))
 ORDER BY w.name COLLATE "C", w.limit_key COLLATE "C" FOR UPDATE
