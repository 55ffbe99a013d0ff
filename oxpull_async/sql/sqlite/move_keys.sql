-- move_keys: the unique keys whose old lock rows name old rows of this range of ids: id, key.
-- There is no index, so each call reads all lock rows; those of moved tasks are deleted.
SELECT l.task_id, l."key"
  FROM oxpull_oxpulluniquelock AS l
 WHERE l.task_id BETWEEN :first AND :last
