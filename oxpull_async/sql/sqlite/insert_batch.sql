-- insert_batch: store a new batch, open and empty; it expires `expire_after` seconds from now, or never.
INSERT INTO oxpull_batch (id, backend_alias, name, members, callbacks, created_at, expires_at)
VALUES (:id, :backend_alias, :name, 0, :callbacks, :now,
        strftime('%Y-%m-%d %H:%M:%f', :now, :expire_after || ' seconds') || '000')
