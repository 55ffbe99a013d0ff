-- discard_nodes: end rows that waited for edges, an upstream of theirs having ended badly; the errors say which.
UPDATE oxpull_task AS t
   SET status = 'DISCARDED', waiting_for = NULL, due = NULL, finished_at = :now,
       errors = t.errors || jsonb_build_array(n.error::jsonb || jsonb_build_object('at', to_jsonb(:now))),
       recheck = CASE WHEN t.reruns THEN 1 ELSE t.recheck END
  FROM json_to_recordset(:tasks::text::json) AS n(id uuid, error text)
 WHERE t.id = n.id AND t.waiting_for = 'edges'
