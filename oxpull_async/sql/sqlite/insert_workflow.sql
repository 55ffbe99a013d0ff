-- insert_workflow: store a new workflow, open and empty; it expires `expire_after` seconds from now, or never.
INSERT INTO oxpull_workflow (id, backend_alias, name, nodes, callbacks, created_at, expires_at)
VALUES (:id, :backend_alias, :name, 0, :callbacks, :now,
        strftime('%Y-%m-%d %H:%M:%f', :now, :expire_after || ' seconds') || '000')
