-- insert_batch: store a new batch, open and empty; it expires `expire_after` seconds from now, or never.
INSERT INTO oxpull_batch (id, backend_alias, name, members, callbacks, created_at, expires_at)
VALUES (:id::text::uuid, :backend_alias::text, :name::text, 0, :callbacks::text::jsonb, :now,
        :now + make_interval(secs => :expire_after::float8))
