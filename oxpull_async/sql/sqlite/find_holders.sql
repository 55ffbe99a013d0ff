-- find_holders: the lock rows of these keys: key, holder, follow-up, whether it has expired (NULL: it has no ttl), and
-- no isolation level.
SELECT u.unique_key, u.holder_id, u.follow_up_id, u.expires_at <= :now, NULL
  FROM oxpull_unique AS u INDEXED BY sqlite_autoindex_oxpull_unique_1
 WHERE u.unique_key IN (SELECT value FROM json_each(:keys))
