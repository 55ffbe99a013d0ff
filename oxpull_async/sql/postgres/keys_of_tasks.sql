-- keys_of_tasks: the keys that must be locked before these rows are ended, since a follow-up may hang on them.
SELECT DISTINCT t.unique_key FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND t.unique_key IS NOT NULL AND t.reruns
