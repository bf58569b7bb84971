-- +goose Up

-- Lists of a tenant's connectors for MCP clients, each at an address that only its hash is stored of.
create table registries (
    tenant_id       uuid not null,
    id              uuid not null,
    name            text not null,
    address_hash    bytea not null,
    every_connector boolean not null,
    token_required  boolean not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    rotated_at      timestamptz,
    last_used_at    timestamptz,
    constraint registries_pkey primary key (tenant_id, id),
    constraint registries_address_hash_key unique (address_hash),
    constraint registries_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade,
    constraint registries_name_length check (length(name) between 1 and 100),
    constraint registries_address_hash_length check (octet_length(address_hash) = 32)
);
create policy tenant_rows on registries using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table registries enable row level security;
alter table registries force row level security;
grant select, insert, update, delete on registries to patchbay_app;

create table registry_agents (
    tenant_id   uuid not null,
    registry_id uuid not null,
    agent_id    uuid not null,
    constraint registry_agents_pkey primary key (tenant_id, registry_id, agent_id),
    constraint registry_agents_registry_fkey foreign key (tenant_id, registry_id) references registries (tenant_id, id) on delete cascade,
    constraint registry_agents_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
);
create index registry_agents_agent_idx on registry_agents (tenant_id, agent_id);
create policy tenant_rows on registry_agents using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table registry_agents enable row level security;
alter table registry_agents force row level security;
grant select, insert, update, delete on registry_agents to patchbay_app;

-- +goose Down
drop table registry_agents;
drop table registries;
