-- +goose Up

-- name_limit: how long the names may be under which an agent sees tools. calls_per_minute: 0 is no limit of its own.
alter table agents
    add column name_limit       integer not null default 64,
    add column calls_per_minute integer not null default 0,
    add constraint agents_name_limit_range check (name_limit between 64 and 128),
    add constraint agents_calls_per_minute_range check (calls_per_minute between 0 and 1000000);

-- call_history: what is kept of arguments and results. approval_timeout_s: how long a call waits for a person before its agent is
-- told to come back.
alter table tenants
    add column call_history       text    not null default 'redacted',
    add column approval_timeout_s integer not null default 300,
    add constraint tenants_call_history_known check (call_history in ('none', 'redacted', 'full')),
    add constraint tenants_approval_timeout_range check (approval_timeout_s between 1 and 86400);

-- server_capabilities: what the server said that it can do. items_hash: of its prompts and resources, as last read.
alter table connectors
    add column calls_per_minute    integer not null default 0,
    add column server_capabilities bytea,
    add column items_hash          bytea,
    add constraint connectors_calls_per_minute_range check (calls_per_minute between 0 and 1000000),
    add constraint connectors_items_hash_length check (length(items_hash) = 32);

-- The tokens with which agents come to the gateway. Only an HMAC of the secret part is stored.
create table agent_tokens (
    tenant_id    uuid        not null,
    id           uuid        not null,
    agent_id     uuid        not null,
    name         text        not null default '',
    prefix       text        not null,
    secret_mac   bytea       not null,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz,
    last_used_at timestamptz,
    constraint agent_tokens_pkey primary key (tenant_id, id),
    constraint agent_tokens_id_key unique (id),
    constraint agent_tokens_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint agent_tokens_name_length check (length(name) <= 100)
);
create index agent_tokens_agent_idx on agent_tokens (tenant_id, agent_id);

-- What an agent may use: all tools of a connector, those of later syncs too, or the named ones. approval null: as the agent's.
create table agent_grants (
    tenant_id     uuid        not null,
    agent_id      uuid        not null,
    connector_id  uuid        not null,
    all_tools     boolean     not null,
    tools         text[]      not null default '{}',
    approval      text,
    trusted_tools text[]      not null default '{}',
    created_at    timestamptz not null default now(),
    updated_at    timestamptz not null default now(),
    constraint agent_grants_pkey primary key (tenant_id, agent_id, connector_id),
    constraint agent_grants_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint agent_grants_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint agent_grants_all_or_named check (not all_tools or cardinality(tools) = 0),
    constraint agent_grants_tools_number check (cardinality(tools) <= 5000 and cardinality(trusted_tools) <= 5000),
    constraint agent_grants_approval_known check (approval in ('auto', 'always_ask', 'trusted_only'))
);
create index agent_grants_connector_idx on agent_grants (tenant_id, connector_id);

-- A connector's prompts, resources and resource templates, as its server listed them. key: a prompt's name, a resource's URI, a
-- template's URI template. raw: what was sent, byte for byte.
create table connector_items (
    tenant_id    uuid    not null,
    connector_id uuid    not null,
    kind         text    not null,
    position     integer not null,
    key          text    not null,
    raw          bytea   not null,
    constraint connector_items_pkey primary key (tenant_id, connector_id, kind, position),
    constraint connector_items_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint connector_items_kind_known check (kind in ('prompt', 'resource', 'template'))
);

-- The calls. Beginnings and ends are written in batches, by the process that makes the call; a process that died leaves "running"
-- behind, which is closed as an error. agent_slug, connector_slug, tool: as they were, for who reads it when they are gone.
-- tool: the upstream's name. kind: what was asked for. arguments, content, structured: as the tenant's call_history says.
-- outcome: what kind of end it was. bytes: of arguments and result on the wire.
create table tool_calls (
    tenant_id       uuid        not null references tenants (id) on delete cascade,
    id              uuid        not null,
    agent_id        uuid,
    agent_slug      text        not null,
    connector_id    uuid,
    connector_slug  text        not null,
    kind            text        not null default 'tool',
    tool            text        not null,
    exposed_name    text        not null,
    source          text        not null default 'gateway',
    caller          text        not null default '',
    token_id        uuid,
    credential_id   uuid,
    definition_hash bytea,
    instance_id     uuid,
    status          text        not null,
    outcome         text        not null default '',
    error_code      text        not null default '',
    error_message   text        not null default '',
    is_error        boolean     not null default false,
    approved_by     text        not null default '',
    arguments       bytea,
    content         bytea,
    structured      bytea,
    task            bytea,
    truncated       boolean     not null default false,
    request_bytes   bigint      not null default 0,
    response_bytes  bigint      not null default 0,
    started_at      timestamptz not null,
    completed_at    timestamptz,
    duration_us     bigint,
    constraint tool_calls_pkey primary key (tenant_id, id),
    constraint tool_calls_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete set null (agent_id),
    constraint tool_calls_connector_fkey foreign key (tenant_id, connector_id)
        references connectors (tenant_id, id) on delete set null (connector_id),
    constraint tool_calls_kind_known check (kind in ('tool', 'prompt', 'resource', 'completion')),
    constraint tool_calls_source_known check (source in ('gateway', 'api', 'dashboard')),
    constraint tool_calls_status_known check (status in ('pending_approval', 'running', 'success', 'error', 'denied', 'cancelled')),
    constraint tool_calls_outcome_known check (outcome in ('', 'ok', 'tool_error', 'rpc_error', 'transport', 'refused', 'denied', 'cancelled', 'lost')),
    constraint tool_calls_ended_has_end check (
        (status in ('success', 'error', 'denied', 'cancelled')) = (completed_at is not null) and (completed_at is null) = (duration_us is null))
);
create index tool_calls_agent_idx on tool_calls (tenant_id, agent_id, id desc);
create index tool_calls_connector_idx on tool_calls (tenant_id, connector_id, id desc);
create index tool_calls_open_idx on tool_calls (tenant_id, id) where completed_at is null;

-- A call that waits for a person, until what came of it was fetched or has lapsed. id is the tool call's. sealed: the arguments.
-- call_hash: agent, connector, tool and arguments; the same call again finds this row. state: waiting; approved, denied and lapsed by
-- decision or time; executing by instance_id; done, with a row in approval_results; unknown: the process died in between, and nobody
-- knows what the server did.
create table approvals (
    tenant_id       uuid        not null,
    id              uuid        not null,
    agent_id        uuid        not null,
    connector_id    uuid        not null,
    tool            text        not null,
    exposed_name    text        not null,
    definition_hash bytea       not null,
    call_hash       bytea       not null,
    sealed          bytea       not null,
    state           text        not null default 'waiting',
    asked_at        timestamptz not null default now(),
    expires_at      timestamptz not null,
    decided_at      timestamptz,
    decided_by      text        not null default '',
    reason          text        not null default '',
    instance_id     uuid,
    fetched_at      timestamptz,
    constraint approvals_pkey primary key (tenant_id, id),
    constraint approvals_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint approvals_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint approvals_state_known check (state in ('waiting', 'approved', 'denied', 'lapsed', 'executing', 'done', 'unknown')),
    constraint approvals_decided check ((state in ('waiting', 'lapsed')) = (decided_at is null)),
    constraint approvals_executing_has_owner check (state <> 'executing' or instance_id is not null)
);
create index approvals_open_idx on approvals (tenant_id, id) where state in ('waiting', 'approved', 'executing');
-- One row for the same call, as long as it is open or its result was not fetched.
create unique index approvals_same_call_key on approvals (tenant_id, call_hash)
    where state in ('waiting', 'approved', 'executing') or (state = 'done' and fetched_at is null);
create index approvals_agent_idx on approvals (tenant_id, agent_id);
create index approvals_connector_idx on approvals (tenant_id, connector_id);

-- What an approved call returned, sealed, for the same call when it comes again.
create table approval_results (
    tenant_id uuid  not null,
    id        uuid  not null,
    sealed    bytea not null,
    constraint approval_results_pkey primary key (tenant_id, id),
    constraint approval_results_approval_fkey foreign key (tenant_id, id) references approvals (tenant_id, id) on delete cascade
);

-- "Allow this tool for two hours": calls of it ask nobody until then.
create table tool_allowances (
    tenant_id    uuid        not null,
    agent_id     uuid        not null,
    connector_id uuid        not null,
    tool         text        not null,
    until        timestamptz not null,
    granted_by   text        not null,
    constraint tool_allowances_pkey primary key (tenant_id, agent_id, connector_id, tool),
    constraint tool_allowances_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint tool_allowances_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade
);
create index tool_allowances_connector_idx on tool_allowances (tenant_id, connector_id);

-- What one process keeps for another: the answer of an agent's client that came in elsewhere, or a reply whose stream broke. box
-- says for whom. sealed: a message. It lives for minutes.
create table gateway_mail (
    tenant_id  uuid        not null references tenants (id) on delete cascade,
    id         uuid        not null,
    agent_id   uuid        not null,
    box        text        not null,
    sealed     bytea       not null,
    expires_at timestamptz not null,
    constraint gateway_mail_pkey primary key (tenant_id, id),
    constraint gateway_mail_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
);
create index gateway_mail_box_idx on gateway_mail (tenant_id, box, id);
create index gateway_mail_expiry_idx on gateway_mail (expires_at);
create index gateway_mail_agent_idx on gateway_mail (tenant_id, agent_id);

-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['agent_tokens', 'agent_grants', 'connector_items', 'tool_calls', 'approvals', 'approval_results',
                             'tool_allowances', 'gateway_mail'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_rows on %I using (tenant_id = tenant() or system_scope())
                        with check (tenant_id = tenant() or system_scope())', t);
    end loop;
end $$;
-- +goose StatementEnd
grant select, insert, update, delete on
    agent_tokens, agent_grants, connector_items, tool_calls, approvals, approval_results, tool_allowances, gateway_mail to patchbay_app;
create trigger sealed_by_a_living_key before insert or update of sealed on approvals
    for each row execute function refuse_retired_key();
create trigger sealed_by_a_living_key before insert or update of sealed on approval_results
    for each row execute function refuse_retired_key();
create trigger sealed_by_a_living_key before insert or update of sealed on gateway_mail
    for each row execute function refuse_retired_key();

-- Every process keeps in memory what agents may see and do, and hears on the channel patchbay_changes what of it is not true any more:
-- "<kind> <tenant> <id>". One statement that changes many rows of one thing says it once, for equal notices of a transaction are one.
-- +goose StatementBegin
create function say_change() returns trigger language plpgsql as $$
declare
    row jsonb := to_jsonb(coalesce(new, old));
begin
    perform pg_notify('patchbay_changes', tg_argv[0] || ' ' || (row ->> tg_argv[1]) || ' ' || coalesce(row ->> tg_argv[2], ''));
    return null;
end $$;
-- +goose StatementEnd
create trigger say_agent_change after update or delete on agents
    for each row execute function say_change('agent', 'tenant_id', 'id');
create trigger say_token_change after update of expires_at or delete on agent_tokens
    for each row execute function say_change('token', 'tenant_id', 'id');
create trigger say_grant_change after insert or update or delete on agent_grants
    for each row execute function say_change('agent', 'tenant_id', 'agent_id');
create trigger say_allowance_change after insert or update or delete on tool_allowances
    for each row execute function say_change('agent', 'tenant_id', 'agent_id');
-- Each sync stamps its connector, which is no news.
create trigger say_connector_change after update on connectors
    for each row when (
        (old.slug, old.name, old.description, old.transport, old.url, old.headers, old.credential_mode, old.auth_type,
          old.auth_header, old.timeout_ms, old.retry_attempts, old.enabled, old.calls_per_minute, old.version, old.items_hash,
          old.server_capabilities, old.server_instructions, old.era, old.command, old.args, old.cwd)
        is distinct from
        (new.slug, new.name, new.description, new.transport, new.url, new.headers, new.credential_mode, new.auth_type,
          new.auth_header, new.timeout_ms, new.retry_attempts, new.enabled, new.calls_per_minute, new.version, new.items_hash,
          new.server_capabilities, new.server_instructions, new.era, new.command, new.args, new.cwd))
    execute function say_change('connector', 'tenant_id', 'id');
create trigger say_connector_end after delete on connectors
    for each row execute function say_change('connector', 'tenant_id', 'id');
create trigger say_tool_change after insert or update or delete on tools
    for each row execute function say_change('connector', 'tenant_id', 'connector_id');
create trigger say_credential_change after insert or delete or update of sealed, status, version, origin, type on credentials
    for each row execute function say_change('credential', 'tenant_id', 'connector_id');
create trigger say_tenant_change after update on tenants
    for each row execute function say_change('tenant', 'id', 'id');
create trigger say_approval_change after insert or update of state on approvals
    for each row execute function say_change('approval', 'tenant_id', 'id');
create trigger say_mail after insert on gateway_mail
    for each row execute function say_change('mail', 'tenant_id', 'box');

-- +goose Down
drop table gateway_mail;
drop table tool_allowances;
drop table approval_results;
drop table approvals;
drop table tool_calls;
drop table connector_items;
drop table agent_grants;
drop table agent_tokens;
drop trigger say_agent_change on agents;
drop trigger say_connector_change on connectors;
drop trigger say_connector_end on connectors;
drop trigger say_tool_change on tools;
drop trigger say_credential_change on credentials;
drop trigger say_tenant_change on tenants;
drop function say_change();
alter table agents drop column name_limit, drop column calls_per_minute;
alter table tenants drop column call_history, drop column approval_timeout_s;
alter table connectors drop column calls_per_minute, drop column server_capabilities, drop column items_hash;
