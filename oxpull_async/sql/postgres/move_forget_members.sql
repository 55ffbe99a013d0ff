-- move_forget_members: delete the member rows of a batch of the oxpull app.
DELETE FROM oxpull_oxpullbatchmember WHERE batch_id = :id::text::uuid
