-- lock_nodes: the node rows of these tasks: task, workflow, name, unmet edges, what it is counted as, whether a
-- cascade ended it, and the mark. Locks nothing: there is one writer.
SELECT n.task_id, n.workflow_id, n.name, n.unmet, n.counted, n.cascaded, n.recheck
  FROM oxpull_workflow_node AS n INDEXED BY sqlite_autoindex_oxpull_workflow_node_1
 WHERE n.task_id IN (SELECT value FROM json_each(:ids))
