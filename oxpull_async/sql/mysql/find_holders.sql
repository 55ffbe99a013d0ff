-- find_holders: the lock rows of these keys: key, holder, follow-up, whether it has expired (NULL: it has no ttl), and
-- the isolation level.
-- /*M! is read by MariaDB only, /*!8 by MySQL only: each has its own name for the level.
SELECT u.unique_key, u.holder_id, u.follow_up_id, u.expires_at <= :now,
       LOWER(REPLACE(/*M! @@tx_isolation */ /*!80000 @@transaction_isolation */, '-', ' '))
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_unique AS u FORCE INDEX (PRIMARY) ON u.unique_key = j.unique_key
