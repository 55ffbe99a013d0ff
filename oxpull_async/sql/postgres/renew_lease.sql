-- renew_lease: move the worker's expiry while it is still in the future; no match means the worker is dead.
UPDATE oxpull_worker
   SET renewed_at = :now, lease_expires_at = :now + make_interval(secs => :lease_seconds::float8),
       notes = :notes::text::jsonb
 WHERE id = :worker_id::text::uuid AND NOT dead AND lease_expires_at > :now
