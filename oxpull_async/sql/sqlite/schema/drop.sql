-- drop: every table of ours. The versions go first: whatever a crash leaves behind counts as not applied.
DROP TABLE IF EXISTS oxpull_schema;
DROP TABLE IF EXISTS oxpull_worker;
DROP TABLE IF EXISTS oxpull_batch_member;
DROP TABLE IF EXISTS oxpull_batch_counts;
DROP TABLE IF EXISTS oxpull_batch;
DROP TABLE IF EXISTS oxpull_workflow_edge;
DROP TABLE IF EXISTS oxpull_workflow_node;
DROP TABLE IF EXISTS oxpull_workflow_counts;
DROP TABLE IF EXISTS oxpull_workflow;
DROP TABLE IF EXISTS oxpull_task;
DROP TABLE IF EXISTS oxpull_unique;
DROP TABLE IF EXISTS oxpull_lock;
DROP TABLE IF EXISTS oxpull_queue;
DROP TABLE IF EXISTS oxpull_schedule;
DROP TABLE IF EXISTS oxpull_tick;
DROP TABLE IF EXISTS oxpull_meta;
