-- +goose Up

-- Workloads that get an agent's tokens for a JWT of their issuer. keys: the issuer's public keys as a JWKS; null: they are read at the issuer.
create table agent_workloads (
    tenant_id    uuid not null,
    id           uuid not null,
    agent_id     uuid not null,
    name         text not null,
    issuer       text not null,
    subject      text not null,
    keys         jsonb,
    created_at   timestamptz not null default now(),
    last_used_at timestamptz,
    constraint agent_workloads_pkey primary key (tenant_id, id),
    constraint agent_workloads_id_key unique (id),
    constraint agent_workloads_subject_key unique (tenant_id, agent_id, issuer, subject),
    constraint agent_workloads_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint agent_workloads_name_length check (length(name) between 1 and 100),
    constraint agent_workloads_lengths check (octet_length(issuer) between 1 and 500 and octet_length(subject) between 1 and 500
        and octet_length(keys::text) <= 131072)
);
create policy tenant_rows on agent_workloads using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table agent_workloads enable row level security;
alter table agent_workloads force row level security;
grant select, insert, update, delete on agent_workloads to patchbay_app;

alter table agent_tokens add column agent_workload_id uuid;
alter table agent_tokens add constraint agent_tokens_agent_workload_fkey
    foreign key (tenant_id, agent_workload_id) references agent_workloads (tenant_id, id) on delete cascade not valid;
alter table agent_tokens add constraint agent_tokens_of_a_workload_bound
    check (agent_workload_id is null or agent_client_id is null and resource is not null and expires_at is not null) not valid;
create index agent_tokens_agent_workload_idx on agent_tokens (tenant_id, agent_workload_id, created_at) where agent_workload_id is not null;

-- JWTs that were exchanged, until they expire. They outlive their workload, so that none counts again for a new one.
create table used_assertions (
    tenant_id      uuid not null,
    digest         bytea not null, -- SHA-256 of issuer and jti or, without one, of what is signed
    assertion_hash bytea not null, -- SHA-256 of the whole text
    workload_id    uuid not null,
    token_id       uuid not null,  -- the only token that counts for it
    used_at        timestamptz not null,
    expires_at     timestamptz not null,
    refused_at     timestamptz,    -- first use too many
    constraint used_assertions_pkey primary key (tenant_id, digest),
    constraint used_assertions_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade,
    constraint used_assertions_hash_lengths check (octet_length(digest) = 32 and octet_length(assertion_hash) = 32)
);
create index used_assertions_expires_idx on used_assertions (tenant_id, expires_at);
create policy tenant_rows on used_assertions using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table used_assertions enable row level security;
alter table used_assertions force row level security;
grant select, insert, update, delete on used_assertions to patchbay_app;

-- +goose Down
drop table used_assertions;
alter table agent_tokens drop column agent_workload_id;
drop table agent_workloads;
