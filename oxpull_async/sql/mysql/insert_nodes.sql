-- insert_nodes: make tasks nodes of a workflow; matches those that were none yet. Of those with a mark something may
-- have ended before: the next pass looks.
INSERT IGNORE INTO oxpull_workflow_node (task_id, workflow_id, name, unmet, cascaded, recheck)
SELECT n.id, :workflow_id, n.name, n.unmet, false, n.recheck
  FROM JSON_TABLE(:nodes, '$[*]' COLUMNS (
            id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id' ERROR ON ERROR,
            name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.name' ERROR ON ERROR,
            unmet INT PATH '$.unmet' ERROR ON ERROR,
            recheck INT PATH '$.recheck' ERROR ON ERROR)) AS n
