-- write_nodes: write node rows, which the caller has locked or knows under the lock of their workflow's counts.
UPDATE JSON_TABLE(:nodes, '$[*]' COLUMNS (
            id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id' ERROR ON ERROR,
            unmet INT PATH '$.unmet' ERROR ON ERROR,
            counted VARCHAR(12) CHARACTER SET utf8mb4 PATH '$.counted' ERROR ON ERROR,
            cascaded INT PATH '$.cascaded' ERROR ON ERROR,
            recheck INT PATH '$.recheck' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_workflow_node AS m FORCE INDEX (PRIMARY) ON m.task_id = n.id
   SET m.unmet = n.unmet, m.counted = n.counted, m.cascaded = n.cascaded, m.recheck = n.recheck
