-- test_ended: what a row holds that no record shows.
SELECT begun, refunds, snoozes, due, waiting_for FROM oxpull_task
