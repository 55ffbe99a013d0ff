-- test_count_tasks: how many tasks there are.
SELECT count(*) FROM oxpull_task
