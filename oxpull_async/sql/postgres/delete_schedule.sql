-- delete_schedule: forget a schedule; its ticks stay until they are pruned.
DELETE FROM oxpull_schedule WHERE id = :id::text::uuid
