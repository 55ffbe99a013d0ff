-- insert_workflow: store a new workflow, open and empty; it expires `expire_after` seconds from now, or never.
INSERT INTO oxpull_workflow (id, backend_alias, name, nodes, callbacks, created_at, expires_at)
VALUES (:id::text::uuid, :backend_alias::text, :name::text, 0, :callbacks::text::jsonb, :now,
        :now + make_interval(secs => :expire_after::float8))
