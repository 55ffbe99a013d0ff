-- isolation_level: the level of the transaction that is open here, and which database it is, for messages.
SELECT current_setting('transaction_isolation'), 'PostgreSQL, database ' || current_database()
