-- lock_waiting_nodes: lock those of these rows that wait for edges and that nobody else has locked: id, queue, whether
-- it is of a batch, and the name of an upstream whose edge has failed, if one has.
SELECT t.id::text, t.queue_name, t.batch_id IS NOT NULL,
       (SELECT up.name FROM oxpull_workflow_edge e JOIN oxpull_workflow_node up ON up.task_id = e.upstream_id
         WHERE e.downstream_id = t.id AND e.state = 'failed' LIMIT 1)
  FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND t.waiting_for = 'edges'
 ORDER BY t.id FOR UPDATE OF t SKIP LOCKED
