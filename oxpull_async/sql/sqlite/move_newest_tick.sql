-- move_newest_tick: the newest tick in the log of django-ox under this name.
SELECT MAX(t.scheduled_for) FROM django_ox_oxscheduletick AS t WHERE t.schedule_name = :name
