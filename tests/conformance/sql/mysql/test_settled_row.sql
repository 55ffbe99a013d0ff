-- test_settled_row: what a settle may change in a row, times only as whether they are there.
SELECT status, due, begun, recheck, leased_by IS NULL, return_value, errors, worker_ids, epoch, attempts, snoozes, refunds,
       started_at IS NULL, finished_at IS NULL, last_attempted_at IS NULL, unique_key, cancel_requested
  FROM oxpull_task WHERE id = :id
