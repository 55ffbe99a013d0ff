-- move_members: which old rows of this range of ids a batch or workflow counts that is not complete: id, kind, name.
SELECT m.task_id::text, 'batch', b.name
  FROM oxpull_oxpullbatchmember m JOIN oxpull_oxpullbatch b ON b.id = m.batch_id
 WHERE m.task_id BETWEEN :first::text::uuid AND :last::text::uuid AND b.status <> 'COMPLETE'
UNION ALL
SELECT n.task_id::text, 'workflow', w.name
  FROM oxpull_oxpullworkflownode n JOIN oxpull_oxpullworkflow w ON w.id = n.workflow_id
 WHERE n.task_id BETWEEN :first::text::uuid AND :last::text::uuid AND w.status <> 'COMPLETE'
