-- +goose Up

-- Programs that registered themselves at the gateway's authorization server (RFC 7591), before anybody signed in: they belong to no tenant.
-- name: what the program calls itself, which nobody has checked. address: from where it registered. used_on: the last day on which somebody let
-- it in, or it renewed its token; null: never.
create table mcp_clients (
    id            uuid        not null,
    name          text        not null,
    redirect_uris text[]      not null,
    address       text        not null default '',
    created_at    timestamptz not null default now(),
    used_on       date,
    constraint mcp_clients_pkey primary key (id),
    constraint mcp_clients_name_length check (length(name) between 1 and 100),
    constraint mcp_clients_redirect_uris_number check (cardinality(redirect_uris) between 1 and 20),
    constraint mcp_clients_address_length check (length(address) <= 100)
);
create index mcp_clients_unused_idx on mcp_clients (created_at) where used_on is null;
create index mcp_clients_address_idx on mcp_clients (address, created_at);

alter table mcp_clients enable row level security;
alter table mcp_clients force row level security;
create policy system_rows on mcp_clients using ((select system_scope())) with check ((select system_scope()));
grant select, insert, update, delete on mcp_clients to patchbay_app;

-- A person's word that a program may be one of the tenant's agents, at one address of the gateway; all tokens that come of it end with it.
-- client_id: a registered program's, or the URL of its document. client_host: whose document that is; empty: nobody can tell. resource: the
-- path at the gateway. code_mac, challenge, redirect_uri: of the authorization code, which is good until code_expires_at and once. generation: of
-- the refresh token, 0 before the code was used; salt: what the refresh tokens are made of, with a key that is not here.
create table agent_clients (
    tenant_id       uuid        not null references tenants (id) on delete cascade,
    id              uuid        not null,
    agent_id        uuid        not null,
    user_id         uuid        not null,
    client_id       text        not null,
    client_name     text        not null,
    client_host     text        not null default '',
    resource        text        not null,
    redirect_uri    text        not null,
    code_mac        bytea       not null,
    challenge       bytea       not null,
    code_expires_at timestamptz not null,
    code_used_at    timestamptz,
    salt            bytea       not null,
    generation      integer     not null default 0,
    rotated_at      timestamptz,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null,
    constraint agent_clients_pkey primary key (tenant_id, id),
    constraint agent_clients_id_key unique (id),
    constraint agent_clients_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint agent_clients_member_fkey foreign key (tenant_id, user_id) references memberships (tenant_id, user_id) on delete cascade,
    constraint agent_clients_lengths check (
        length(client_id) between 1 and 2048 and length(client_name) between 1 and 100 and length(client_host) <= 300
        and length(resource) between 4 and 100 and length(redirect_uri) between 1 and 2048),
    constraint agent_clients_challenge_length check (length(challenge) = 32),
    constraint agent_clients_salt_length check (length(salt) = 32),
    constraint agent_clients_generation_used check ((generation = 0) = (rotated_at is null) and (generation = 0 or code_used_at is not null))
);
create index agent_clients_agent_idx on agent_clients (tenant_id, agent_id, id desc);
create index agent_clients_member_idx on agent_clients (tenant_id, user_id, id desc);
create index agent_clients_expires_idx on agent_clients (tenant_id, expires_at);

-- The agents that people made for programs of their own: they may let further programs be these, without being admins.
create table personal_agents (
    tenant_id  uuid        not null,
    agent_id   uuid        not null,
    user_id    uuid        not null,
    created_at timestamptz not null default now(),
    constraint personal_agents_pkey primary key (tenant_id, agent_id),
    constraint personal_agents_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint personal_agents_member_fkey foreign key (tenant_id, user_id) references memberships (tenant_id, user_id) on delete cascade
);
create index personal_agents_member_idx on personal_agents (tenant_id, user_id);

-- agent_client_id: the program whose access token it is; null: a person made the token. resource: the only path at the gateway that it opens;
-- null: each.
alter table agent_tokens
    add column agent_client_id uuid,
    add column resource        text,
    add constraint agent_tokens_agent_client_fkey foreign key (tenant_id, agent_client_id) references agent_clients (tenant_id, id) on delete cascade,
    add constraint agent_tokens_of_a_client_bound check (agent_client_id is null or (resource is not null and expires_at is not null));
create index agent_tokens_agent_client_idx on agent_tokens (tenant_id, agent_client_id) where agent_client_id is not null;

-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['agent_clients', 'personal_agents'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
            with check (tenant_id = (select tenant()) or (select system_scope()))', t);
        execute format('grant select, insert, update, delete on %I to patchbay_app', t);
    end loop;
end $$;
-- +goose StatementEnd

-- +goose Down
delete from agent_tokens where agent_client_id is not null;
alter table agent_tokens
    drop constraint agent_tokens_of_a_client_bound,
    drop constraint agent_tokens_agent_client_fkey,
    drop column resource,
    drop column agent_client_id;
drop table personal_agents;
drop table agent_clients;
drop table mcp_clients;
