-- lock_waiting_nodes: those of these rows that wait for edges: id, queue, whether it is of a batch, and the name of an
-- upstream whose edge has failed, if one has. Locks nothing: there is one writer.
SELECT t.id, t.queue_name, t.batch_id IS NOT NULL,
       (SELECT up.name FROM oxpull_workflow_edge AS e INDEXED BY oxpull_workflow_edge_downstream
         CROSS JOIN oxpull_workflow_node AS up INDEXED BY sqlite_autoindex_oxpull_workflow_node_1
            ON up.task_id = e.upstream_id
         WHERE e.downstream_id = t.id AND e.state = 'failed' LIMIT 1)
  FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE t.id IN (SELECT value FROM json_each(:ids)) AND t.waiting_for = 'edges'
