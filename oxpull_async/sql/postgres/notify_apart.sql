-- notify_apart: wake the workers that listen, in a transaction that has nothing else to commit, without waiting for the
-- disk: a wake-up that is lost with the server costs latency only.
SELECT set_config('synchronous_commit', 'off', true), pg_notify('oxpull', :queue_name::text)
