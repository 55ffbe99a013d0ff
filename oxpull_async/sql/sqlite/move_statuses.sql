-- move_statuses: which of these old rows are there, and in which status.
SELECT t.id, t.status
  FROM django_ox_oxtask AS t
 WHERE t.id IN (SELECT value FROM json_each(:ids))
