-- renew_lease: move the worker's expiry while it is still in the future; no match means the worker is dead.
UPDATE oxpull_worker
   SET renewed_at = :now, lease_expires_at = :now + INTERVAL ROUND(:lease_seconds * 1000000) MICROSECOND,
       notes = :notes
 WHERE id = :worker_id AND NOT dead AND lease_expires_at > :now
