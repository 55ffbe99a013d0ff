-- set_follow_ups: name the follow-ups of keys, each guarded by its holder's id. One that is named waits no more.
-- What is compared stands in the list, else few rows in the statistics make the planner read the whole table.
UPDATE oxpull_unique AS u INDEXED BY sqlite_autoindex_oxpull_unique_1
   SET follow_up_id = n.follow_up_id
  FROM (WITH given AS MATERIALIZED (
            SELECT json_extract(j.value, '$.unique_key') AS unique_key, json_extract(j.value, '$.holder_id') AS holder_id,
                   json_extract(j.value, '$.follow_up_id') AS follow_up_id
              FROM json_each(:keys) AS j)
        SELECT * FROM given) AS n
 WHERE u.unique_key = n.unique_key AND u.holder_id = n.holder_id
