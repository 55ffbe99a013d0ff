-- insert_members: make tasks members of a batch; those with a mark may have ended: the next pass looks.
INSERT INTO oxpull_batch_member (task_id, batch_id, recheck)
SELECT json_extract(n.value, '$.id'), :batch_id, json_extract(n.value, '$.recheck') FROM json_each(:members) AS n
