-- notify: wake the workers that listen; the payload is a queue name.
SELECT pg_notify('oxpull', :queue_name::text)
