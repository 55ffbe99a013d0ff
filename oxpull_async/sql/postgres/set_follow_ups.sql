-- set_follow_ups: name the follow-ups of keys, each guarded by its holder's id. One that is named waits no more.
WITH n AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:keys::text::json) AS n(unique_key text, holder_id uuid, follow_up_id uuid)
)
UPDATE oxpull_unique AS u SET follow_up_id = n.follow_up_id
  FROM n
 WHERE u.unique_key = n.unique_key AND u.unique_key = ANY(ARRAY(SELECT n.unique_key FROM n)) AND u.holder_id = n.holder_id
