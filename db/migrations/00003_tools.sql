-- +goose Up

-- A tool's definition, once per tenant and content. hash is the SHA-256 of raw, and raw is what the upstream sent, byte for byte
-- (bytea: JSON may hold what text refuses). title, description and search are read out of raw for lists and searches.
create table tool_definitions (
    tenant_id   uuid        not null references tenants (id) on delete cascade,
    hash        bytea       not null,
    raw         bytea       not null,
    title       text        not null default '',
    description text        not null default '',
    search      tsvector    not null,
    created_at  timestamptz not null default now(),
    constraint tool_definitions_pkey primary key (tenant_id, hash),
    constraint tool_definitions_hash_length check (length(hash) = 32)
);
-- No index on search: row-level security lets only leakproof operators reach an index, and @@ is none. A search reads
-- its tenant's definitions and no others.

-- A connector's tools. current_hash is what the upstream says now, accepted_hash what agents are served.
-- last_seen_at is written when a tool goes; while it is there, its last sighting is the connector's last successful sync.
create table tools (
    tenant_id     uuid        not null,
    connector_id  uuid        not null,
    name          text        not null,
    current_hash  bytea       not null,
    accepted_hash bytea,
    review        text        not null,
    enabled       boolean     not null default true,
    first_seen_at timestamptz not null,
    last_seen_at  timestamptz not null,
    changed_at    timestamptz not null,
    removed_at    timestamptz,
    constraint tools_pkey primary key (tenant_id, connector_id, name),
    constraint tools_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint tools_current_fkey foreign key (tenant_id, current_hash) references tool_definitions (tenant_id, hash),
    constraint tools_accepted_fkey foreign key (tenant_id, accepted_hash) references tool_definitions (tenant_id, hash),
    constraint tools_name_length check (length(name) between 1 and 128),
    constraint tools_review_known check (review in ('accepted', 'changed', 'new', 'rejected')),
    constraint tools_accepted_is_current check (review <> 'accepted' or accepted_hash = current_hash),
    constraint tools_changed_keeps_accepted check (review <> 'changed' or accepted_hash is not null),
    constraint tools_new_has_no_accepted check (review <> 'new' or accepted_hash is null)
) with (fillfactor = 85);
create index tools_current_hash_idx on tools (tenant_id, current_hash);
create index tools_accepted_hash_idx on tools (tenant_id, accepted_hash);

-- Entries of the last list that are no tools, kept aside with the reason.
create table quarantined_tools (
    tenant_id    uuid    not null,
    connector_id uuid    not null,
    position     integer not null,
    name         text,
    reason       text    not null,
    raw          bytea   not null,
    constraint quarantined_tools_pkey primary key (tenant_id, connector_id, position),
    constraint quarantined_tools_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade
);

-- One attempt to read a connector's tools. instance_id is the process that runs it.
create table sync_runs (
    tenant_id         uuid        not null,
    id                uuid        not null,
    connector_id      uuid        not null,
    agent_id          uuid,
    trigger           text        not null,
    state             text        not null,
    instance_id       uuid,
    queued_at         timestamptz not null default now(),
    started_at        timestamptz,
    finished_at       timestamptz,
    tools_total       integer     not null default 0,
    tools_added       integer     not null default 0,
    tools_changed     integer     not null default 0,
    tools_removed     integer     not null default 0,
    tools_quarantined integer     not null default 0,
    protocol_version  text        not null default '',
    error_code        text,
    error_message     text,
    constraint sync_runs_pkey primary key (tenant_id, id),
    constraint sync_runs_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint sync_runs_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete set null (agent_id),
    constraint sync_runs_trigger_known check (trigger in ('manual', 'api', 'oauth', 'schedule', 'list_changed')),
    constraint sync_runs_state_known check (state in ('queued', 'running', 'ok', 'error')),
    constraint sync_runs_running_has_owner check (state <> 'running' or (instance_id is not null and started_at is not null)),
    constraint sync_runs_ended_has_end check ((state in ('ok', 'error')) = (finished_at is not null)),
    constraint sync_runs_error_whole check ((error_code is null) = (error_message is null))
);
-- Two syncs of one connector never run at the same time.
create unique index sync_runs_one_running_key on sync_runs (tenant_id, connector_id) where state = 'running';
-- And one waiting run is enough: it will see what is there when it runs.
create unique index sync_runs_one_queued_key on sync_runs (tenant_id, connector_id) where state = 'queued';
create index sync_runs_connector_idx on sync_runs (tenant_id, connector_id, id desc);
create index sync_runs_running_instance_idx on sync_runs (instance_id) where state = 'running';
-- Deleting an agent clears its mark here.
create index sync_runs_agent_idx on sync_runs (tenant_id, agent_id) where agent_id is not null;

-- What happened, by whom: append-only.
create table audit_events (
    tenant_id  uuid        not null references tenants (id) on delete cascade,
    id         uuid        not null,
    at         timestamptz not null default now(),
    actor_type text        not null,
    actor_id   uuid,
    actor_name text        not null,
    action     text        not null,
    target     text        not null,
    detail     jsonb       not null default '{}',
    request_id text        not null default '',
    ip         text        not null default '',
    constraint audit_events_pkey primary key (tenant_id, id)
);

-- +goose Down
drop table audit_events;
drop table sync_runs;
drop table quarantined_tools;
drop table tools;
drop table tool_definitions;
