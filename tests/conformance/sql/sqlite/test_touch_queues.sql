-- test_touch_queues: write what is there already.
UPDATE oxpull_queue SET paused = paused
