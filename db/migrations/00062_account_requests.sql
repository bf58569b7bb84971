-- +goose Up

-- A call that missed an account, and told its client where a person connects it. session: of the client that is told when the account is there;
-- empty: it comes back with a state. connected_at: when an account was put there; used_at: when the call went on, which it does once.
create table account_requests (
    tenant_id    uuid        not null references tenants (id) on delete cascade,
    id           uuid        not null,
    agent_id     uuid        not null,
    connector_id uuid        not null,
    session      text        not null default '',
    created_at   timestamptz not null default now(),
    expires_at   timestamptz not null,
    connected_at timestamptz,
    used_at      timestamptz,
    constraint account_requests_pkey primary key (tenant_id, id),
    constraint account_requests_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint account_requests_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint account_requests_session_length check (length(session) <= 300),
    constraint account_requests_used_connected check (used_at is null or connected_at is not null)
);
create index account_requests_agent_idx on account_requests (tenant_id, agent_id, connector_id);
create index account_requests_connector_idx on account_requests (tenant_id, connector_id);

alter table account_requests enable row level security;
alter table account_requests force row level security;
create policy tenant_rows on account_requests using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
grant select, insert, update, delete on account_requests to patchbay_app;

-- Since when an account, or a secret, is the one that it is. Null: a release from before put it there.
alter table credentials add column connected_at timestamptz;

-- +goose Down
alter table credentials drop column connected_at;
drop table account_requests;
