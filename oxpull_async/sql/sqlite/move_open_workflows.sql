-- move_open_workflows: the next workflows of the oxpull app that are not complete, by id: id, name.
SELECT g.id, g.name
  FROM oxpull_oxpullworkflow AS g
 WHERE g.id > COALESCE(:after, '') AND +g.status IN ('OPEN', 'SEALED')
 ORDER BY g.id LIMIT :limit
