-- move_open_workflows: the next workflows of the oxpull app that are not complete, by id: id, name.
SELECT g.id, g.name
  FROM oxpull_oxpullworkflow AS g FORCE INDEX (PRIMARY)
 WHERE (:after IS NULL OR g.id > :after) AND g.status IN ('OPEN', 'SEALED')
 ORDER BY g.id LIMIT :limit
