-- move_schedules: the next stored schedules of django-ox: id, name.
SELECT s.id, s.name FROM django_ox_oxschedule s WHERE s.id > COALESCE(:after::bigint, 0) ORDER BY s.id LIMIT (SELECT :limit::int)
