-- find_workflow_of_key: the workflow that holds a unique key, which is not complete.
SELECT c.workflow_id FROM oxpull_workflow_counts AS c INDEXED BY oxpull_workflow_counts_key WHERE c.unique_key = :unique_key
