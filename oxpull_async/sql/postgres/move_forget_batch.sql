-- move_forget_batch: delete a batch of the oxpull app, which the caller has locked.
DELETE FROM oxpull_oxpullbatch WHERE id = :id::text::uuid
