-- declare_nodes: have the end of tasks followed that became nodes after they had been enqueued.
UPDATE oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
   SET workflow_id = (SELECT n.workflow_id FROM oxpull_workflow_node AS n WHERE n.task_id = t.id)
 WHERE t.id IN (SELECT value FROM json_each(:ids)) AND t.workflow_id IS NULL
