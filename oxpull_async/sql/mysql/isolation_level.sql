-- isolation_level: the session's level, and which database it is, for messages.
-- /*M! is read by MariaDB only, /*!8 by MySQL only: each has its own name for the level.
SELECT LOWER(REPLACE(/*M! @@tx_isolation */ /*!80000 @@transaction_isolation */, '-', ' ')),
       CONCAT(/*M! 'MariaDB' */ /*!80000 'MySQL' */, ', database ', DATABASE())
