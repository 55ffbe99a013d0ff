-- renew_lease: move the worker's expiry while it is still in the future; no match means the worker is dead.
UPDATE oxpull_worker
   SET renewed_at = :now, notes = :notes,
       lease_expires_at = strftime('%Y-%m-%d %H:%M:%f', :now, :lease_seconds || ' seconds') || '000'
 WHERE id = :worker_id AND NOT dead AND lease_expires_at > :now
