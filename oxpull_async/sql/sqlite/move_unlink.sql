-- move_unlink: let the old log of schedules forget these old rows, as it does when they are deleted.
UPDATE django_ox_oxscheduletick
   SET task_id = NULL
 WHERE task_id IN (SELECT value FROM json_each(:ids))
