-- release_follow_ups: make these follow-ups ready; one that was discarded meanwhile is left alone.
UPDATE oxpull_task AS f
   SET status = 'READY', waiting_for = NULL, due = CASE WHEN f.available_at > :now THEN 0 ELSE 1 END
 WHERE f.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) AND f.waiting_for = 'follow_up'
