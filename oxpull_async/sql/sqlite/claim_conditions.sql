-- claim_conditions: what the claim asks of one row: whether it is due (or its time has come, for then the next look of
-- a worker marks it), whether its queue is paused, lock key, lock limit, what a taken lock does, unique key, limit keys.
SELECT COALESCE(t.due, 0) = 1 OR t.available_at <= :now,
       EXISTS (SELECT 1 FROM oxpull_queue p
                WHERE p.backend_alias = t.backend_alias AND p.queue_name = t.queue_name AND p.paused),
       t.lock_key, t.lock_limit, t.lock_conflict, t.unique_key, t.limit_keys
  FROM oxpull_task t WHERE t.id = :id
