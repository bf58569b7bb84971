-- +goose Up

-- The secret of a client that an admin registered by hand at an authorization server. issuer: the one that it was first used
-- with, and the only one that it is shown to; empty: not used yet. origin: that of the connector when the secret was entered.
create table connector_clients (
    tenant_id    uuid        not null,
    connector_id uuid        not null,
    client_id    text        not null,
    origin       text        not null,
    issuer       text        not null default '',
    sealed       bytea       not null,
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    constraint connector_clients_pkey primary key (tenant_id, connector_id),
    constraint connector_clients_client_given check (client_id <> ''),
    constraint connector_clients_origin_given check (origin <> ''),
    constraint connector_clients_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade
);
alter table connector_clients enable row level security;
alter table connector_clients force row level security;
create policy tenant_rows on connector_clients using (tenant_id = tenant() or system_scope())
    with check (tenant_id = tenant() or system_scope());
grant select, insert, update, delete on connector_clients to patchbay_app;

-- What lapses soon is asked for on every visit of the dashboard.
create index credentials_expires_idx on credentials (tenant_id, expires_at) where expires_at is not null;

-- +goose Down
drop index credentials_expires_idx;
drop table connector_clients;
