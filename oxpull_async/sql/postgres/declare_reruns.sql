-- declare_reruns: have the end of these rows, if it is still to come, looked at: a follow-up waits for it.
WITH locked AS MATERIALIZED (
    SELECT t.id FROM oxpull_task t
     WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) ORDER BY t.id FOR UPDATE
)
UPDATE oxpull_task AS t SET reruns = true
  FROM locked
 WHERE t.id = locked.id AND NOT t.reruns AND t.status IN ('READY', 'WAITING', 'RUNNING')
