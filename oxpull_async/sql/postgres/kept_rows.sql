-- kept_rows: how many dead and live rows the task table has by its statistics, for how many seconds the oldest open
-- transaction has kept such rows from being cleaned up, and whose it is. Real time, whatever a test's clock says.
SELECT s.n_dead_tup, s.n_live_tup, h.seconds, h.holder
  FROM pg_stat_user_tables s
  LEFT JOIN (
    SELECT EXTRACT(EPOCH FROM clock_timestamp() - k.since)::float8 AS seconds, k.holder
      FROM (SELECT a.xact_start AS since, COALESCE(a.backend_xmin, a.backend_xid) AS oldest,
                   concat('session ', a.pid, ' (', concat_ws(', ', NULLIF(a.application_name, ''), a.state), ')') AS holder
              FROM pg_stat_activity a
             WHERE a.pid <> pg_backend_pid() AND a.backend_type = 'client backend' AND a.datname = current_database()
             UNION ALL
            SELECT p.prepared, p.transaction, concat('the prepared transaction ', p.gid)
              FROM pg_prepared_xacts p WHERE p.database = current_database()) AS k
     WHERE k.oldest IS NOT NULL ORDER BY age(k.oldest) DESC LIMIT 1) AS h ON true
 WHERE s.relid = 'oxpull_task'::regclass
