-- claim_conditions: what the claim asks of one row: whether it is due, its queue paused, its lock and its unique key.
SELECT t.status = 'READY' AND t.available_at <= :now,
       EXISTS (SELECT 1 FROM oxpull_queue p
                WHERE p.backend_alias = t.backend_alias AND p.queue_name = t.queue_name AND p.paused),
       t.lock_key, t.lock_limit, t.unique_key
  FROM oxpull_task t WHERE t.id = :id::text::uuid
