-- move_schedules: the next stored schedules of django-ox: id, name.
SELECT s.id, s.name FROM django_ox_oxschedule AS s WHERE s.id > COALESCE(:after, 0) ORDER BY s.id LIMIT :limit
