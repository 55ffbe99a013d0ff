-- move_unlink: let the old log of schedules forget these old rows, as it does when they are deleted.
-- HEX takes the collation of whatever it is compared with: that of the old tables is not ours to know.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN django_ox_oxscheduletick AS s ON s.task_id = LOWER(HEX(UNHEX(j.id)))
   SET s.task_id = NULL
