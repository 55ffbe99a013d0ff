-- move_open_workflows: the next workflows of the oxpull app that are not complete, by id: id, name.
SELECT g.id::text, g.name
  FROM oxpull_oxpullworkflow g
 WHERE g.id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid AND g.status IN ('OPEN', 'SEALED')
 ORDER BY g.id LIMIT (SELECT :limit::int)
