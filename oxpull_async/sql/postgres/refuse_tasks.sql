-- refuse_tasks: end due rows whose running lock is taken and which do not wait for it; the errors say who holds it.
UPDATE oxpull_task AS t
   SET status = 'DISCARDED', due = NULL, finished_at = :now,
       errors = t.errors || jsonb_build_array(n.error::jsonb || jsonb_build_object('at', to_jsonb(:now))),
       recheck = CASE WHEN t.reruns THEN 1 ELSE t.recheck END
  FROM json_to_recordset(:tasks::text::json) AS n(id uuid, error text)
 WHERE t.id = n.id AND t.due = 1
