-- move_members: which old rows of this range of ids a batch or workflow counts that is not complete: id, kind, name.
SELECT m.task_id, 'batch', b.name
  FROM oxpull_oxpullbatchmember AS m JOIN oxpull_oxpullbatch AS b ON b.id = m.batch_id
 WHERE m.task_id BETWEEN :first AND :last AND b.status <> 'COMPLETE'
UNION ALL
SELECT n.task_id, 'workflow', w.name
  FROM oxpull_oxpullworkflownode AS n JOIN oxpull_oxpullworkflow AS w ON w.id = n.workflow_id
 WHERE n.task_id BETWEEN :first AND :last AND w.status <> 'COMPLETE'
