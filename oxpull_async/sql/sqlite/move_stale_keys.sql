-- move_stale_keys: count the old lock rows that hold nothing any more: the task they name has ended or is gone.
SELECT COUNT(*)
  FROM oxpull_oxpulluniquelock AS l
 WHERE NOT EXISTS (SELECT 1 FROM django_ox_oxtask AS t
                    WHERE t.id = l.task_id AND t.status IN ('READY', 'RUNNING'))
