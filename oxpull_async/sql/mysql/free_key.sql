-- free_key: what time it is, if nobody holds this key as far as can be seen without waiting; else nothing.
SELECT :now FROM (SELECT 1 AS one) AS o
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_unique AS u WHERE u.unique_key = :unique_key)
