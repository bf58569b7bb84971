-- +goose Up

-- A person asks for an agent's access to a connector: all tools or some, up to until (null: without an end). tools are the
-- upstream's names. asker is the person or the API key.
create table access_requests (
    tenant_id    uuid        not null,
    id           uuid        not null,
    agent_id     uuid        not null,
    connector_id uuid        not null,
    all_tools    boolean     not null,
    tools        text[]      not null default '{}',
    reason       text        not null,
    until        timestamptz,
    asker        uuid        not null,
    asked_by     text        not null,
    asked_at     timestamptz not null default now(),
    state        text        not null default 'open',
    decided_by   text        not null default '',
    decided_at   timestamptz,
    note         text        not null default '',
    constraint access_requests_pkey primary key (tenant_id, id),
    constraint access_requests_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade,
    constraint access_requests_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint access_requests_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint access_requests_all_or_named check (all_tools = (cardinality(tools) = 0)),
    constraint access_requests_tools_number check (cardinality(tools) <= 100),
    constraint access_requests_reason_length check (length(reason) between 1 and 1000),
    constraint access_requests_note_length check (length(note) <= 1000),
    constraint access_requests_state_known check (state in ('open', 'accepted', 'refused', 'withdrawn')),
    constraint access_requests_decided check ((state = 'open') = (decided_at is null))
);
create unique index access_requests_open_key on access_requests (tenant_id, asker, agent_id, connector_id) where state = 'open';
create index access_requests_open_idx on access_requests (tenant_id, id) where state = 'open';
create index access_requests_agent_idx on access_requests (tenant_id, agent_id);
create index access_requests_connector_idx on access_requests (tenant_id, connector_id);
create policy tenant_rows on access_requests
    using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table access_requests enable row level security;
alter table access_requests force row level security;
grant select, insert, update, delete on access_requests to patchbay_app;

-- +goose Down
drop table access_requests;
