-- +goose Up

-- What an admin sets in place of what an authorization server says: connectors.OAuthSettings. No secret is in it.
alter table connectors
    add column oauth jsonb not null default '{}',
    add constraint connectors_oauth_object check (jsonb_typeof(oauth) = 'object');

-- A stored OAuth result. grant_meta: how to refresh it (store.GrantMeta), no secret. One process at a time refreshes: the one
-- whose lease_id stands here, until lease_until. retry_at: not before, after a failure that may pass.
alter table credentials
    add column grant_meta jsonb not null default '{}',
    add column lease_id uuid,
    add column lease_until timestamptz,
    add column retry_at timestamptz,
    add constraint credentials_grant_meta_object check (jsonb_typeof(grant_meta) = 'object'),
    add constraint credentials_lease_whole check ((lease_id is null) = (lease_until is null));

-- Our client id at an authorization server. sealed: the client secret; null: there is none.
create table client_registrations (
    tenant_id         uuid        not null references tenants (id) on delete cascade,
    issuer            text        not null,
    redirect_uri      text        not null,
    client_id         text        not null,
    source            text        not null,
    auth_method       text        not null default '',
    sealed            bytea,
    created_at        timestamptz not null default now(),
    secret_expires_at timestamptz,
    constraint client_registrations_pkey primary key (tenant_id, issuer, redirect_uri),
    constraint client_registrations_client_given check (client_id <> ''),
    constraint client_registrations_source_known check (source in ('configured', 'metadata_document', 'dynamic'))
);

-- An authorization that a person has been sent to. It is read once, by deleting it. state_hash and browser_hash: SHA-256 of what
-- the authorization server and the browser bring back. sealed: the PKCE verifier.
create table oauth_flows (
    tenant_id    uuid        not null,
    id           uuid        not null,
    state_hash   bytea       not null,
    browser_hash bytea       not null,
    connector_id uuid        not null,
    agent_id     uuid,
    started_by   jsonb       not null,
    origin       text        not null,
    metadata     jsonb       not null,
    client_id    text        not null,
    resource     text        not null default '',
    scopes       text[]      not null default '{}',
    redirect_uri text        not null,
    return_to    text        not null default '',
    sealed       bytea       not null,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz not null default now() + interval '10 minutes',
    constraint oauth_flows_pkey primary key (tenant_id, id),
    constraint oauth_flows_state_hash_key unique (state_hash),
    constraint oauth_flows_state_hash_length check (length(state_hash) = 32),
    constraint oauth_flows_origin_given check (origin <> ''),
    constraint oauth_flows_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint oauth_flows_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
);
create index oauth_flows_connector_idx on oauth_flows (tenant_id, connector_id);
create index oauth_flows_agent_idx on oauth_flows (tenant_id, agent_id) where agent_id is not null;

-- A page that an admin sends to the person who owns the account. It works once.
create table connect_links (
    tenant_id    uuid        not null,
    token_hash   bytea       not null,
    connector_id uuid        not null,
    agent_id     uuid,
    made_by      jsonb       not null,
    return_to    text        not null default '',
    created_at   timestamptz not null default now(),
    expires_at   timestamptz not null,
    constraint connect_links_pkey primary key (tenant_id, token_hash),
    constraint connect_links_token_hash_key unique (token_hash),
    constraint connect_links_token_hash_length check (length(token_hash) = 32),
    constraint connect_links_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint connect_links_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
);
create index connect_links_connector_idx on connect_links (tenant_id, connector_id);
create index connect_links_agent_idx on connect_links (tenant_id, agent_id) where agent_id is not null;

-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['client_registrations', 'oauth_flows', 'connect_links'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_rows on %I using (tenant_id = tenant() or system_scope())
                        with check (tenant_id = tenant() or system_scope())', t);
    end loop;
end $$;
-- +goose StatementEnd
grant select, insert, update, delete on client_registrations, oauth_flows, connect_links to patchbay_app;

-- +goose Down
drop table connect_links;
drop table oauth_flows;
drop table client_registrations;
alter table credentials drop column grant_meta, drop column lease_id, drop column lease_until, drop column retry_at;
alter table connectors drop column oauth;
