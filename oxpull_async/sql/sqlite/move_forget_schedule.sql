-- move_forget_schedule: delete a stored schedule of django-ox, which the caller has locked.
DELETE FROM django_ox_oxschedule WHERE id = :id
