-- test_begun: whether the present attempt is marked as started.
SELECT begun FROM oxpull_task WHERE id = :id::text::uuid
