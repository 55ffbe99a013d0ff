-- find_workflow_of_key: the workflow that holds a unique key, which is not complete.
SELECT c.workflow_id::text FROM oxpull_workflow_counts c WHERE c.unique_key = :unique_key::text
