-- +goose Up

-- Row-level security holds for everybody, the owner of the tables too. The runtime role patchbay_app (made by the migrator, which
-- says what it needs where it may not) owns nothing and bypasses nothing.
-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['memberships', 'api_keys', 'agents', 'connectors', 'credentials', 'tool_definitions', 'tools',
                             'quarantined_tools', 'sync_runs', 'audit_events'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_rows on %I using (tenant_id = tenant() or system_scope())
                        with check (tenant_id = tenant() or system_scope())', t);
    end loop;
end $$;
-- +goose StatementEnd
alter table tenants enable row level security;
alter table tenants force row level security;
create policy tenant_rows on tenants using (id = tenant() or system_scope()) with check (id = tenant() or system_scope());

-- What no tenant has any business with: only the store's system door opens these. users and instances stay as they are: a
-- tenant's door joins its members with users and adds to them, and sees by instances whether a run's process still lives.
-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['sessions', 'sign_in_failures', 'setup_links', 'keysets'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy system_rows on %I using (system_scope()) with check (system_scope())', t);
    end loop;
end $$;
-- +goose StatementEnd

grant select, insert, update, delete on
    tenants, users, memberships, api_keys, sessions, sign_in_failures, setup_links, keysets, instances,
    agents, connectors, credentials, tool_definitions, tools, quarantined_tools, sync_runs to patchbay_app;
grant select, insert on audit_events to patchbay_app;

-- +goose Down
revoke all on all tables in schema public from patchbay_app;
