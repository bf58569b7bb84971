-- +goose Up

-- command, args, cwd: what the transport stdio starts, with which arguments and where; empty for the others. era: the family of MCP
-- versions that the server spoke last, which is tried first; empty: not known.
alter table connectors
    add column command text   not null default '',
    add column args    text[] not null default '{}',
    add column cwd     text   not null default '',
    add column era     text   not null default '',
    add constraint connectors_command_fits check ((transport = 'stdio') = (command <> '')),
    add constraint connectors_command_absolute check (command = '' or command like '/%'),
    add constraint connectors_stdio_has_no_url check (transport <> 'stdio' or url = ''),
    add constraint connectors_args_number check (cardinality(args) <= 100),
    add constraint connectors_era_known check (era in ('', 'modern', 'handshake', 'sse'));

-- The environment of a connector's program. names: what may be told of it. program: the command, arguments and folder that it was
-- given for, as a hash. No other program gets it, whatever the connector starts by then. sealed: names and values, encrypted.
create table connector_envs (
    tenant_id    uuid        not null,
    connector_id uuid        not null,
    program      text        not null,
    names        text[]      not null,
    sealed       bytea       not null,
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    constraint connector_envs_pkey primary key (tenant_id, connector_id),
    constraint connector_envs_program_given check (program <> ''),
    constraint connector_envs_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade
);
alter table connector_envs enable row level security;
alter table connector_envs force row level security;
create policy tenant_rows on connector_envs using (tenant_id = tenant() or system_scope())
    with check (tenant_id = tenant() or system_scope());
grant select, insert, update, delete on connector_envs to patchbay_app;
create trigger sealed_by_a_living_key before insert or update of sealed on connector_envs
    for each row execute function refuse_retired_key();

-- +goose Down
drop table connector_envs;
alter table connectors
    drop column command,
    drop column args,
    drop column cwd,
    drop column era;
