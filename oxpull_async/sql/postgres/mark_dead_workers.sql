-- mark_dead_workers: end the workers whose lease expired more than `grace` seconds ago; they never come back.
UPDATE oxpull_worker SET dead = true
 WHERE NOT dead AND lease_expires_at <= :now - make_interval(secs => :grace::float8)
