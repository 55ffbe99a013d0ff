-- isolation_level: none, and which database it is, for messages. There is one level only.
SELECT NULL, 'SQLite'
