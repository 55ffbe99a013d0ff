-- set_follow_ups: name the follow-ups of keys, each guarded by its holder's id. One that is named waits no more.
UPDATE oxpull_unique AS u SET follow_up_id = n.follow_up_id
  FROM json_to_recordset(:keys::text::json) AS n(unique_key text, holder_id uuid, follow_up_id uuid)
 WHERE u.unique_key = n.unique_key AND u.holder_id = n.holder_id
