-- +goose Up

create table agents (
    tenant_id   uuid        not null references tenants (id) on delete cascade,
    id          uuid        not null,
    slug        text        not null,
    name        text        not null,
    description text        not null default '',
    approval    text        not null default 'always_ask',
    enabled     boolean     not null default true,
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now(),
    constraint agents_pkey primary key (tenant_id, id),
    constraint agents_slug_key unique (tenant_id, slug),
    constraint agents_slug_form check (slug ~ '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$'),
    constraint agents_name_length check (length(name) between 1 and 100),
    constraint agents_approval_known check (approval in ('auto', 'always_ask', 'trusted_only'))
);

create table connectors (
    tenant_id       uuid        not null references tenants (id) on delete cascade,
    id              uuid        not null,
    slug            text        not null,
    name            text        not null,
    description     text        not null default '',
    transport       text        not null,
    url             text        not null default '',
    headers         jsonb       not null default '{}',
    credential_mode text        not null,
    auth_type       text        not null,
    auth_header     text        not null default '',
    timeout_ms      integer     not null,
    retry_attempts  integer     not null,
    enabled         boolean     not null,
    sync_interval_s integer     not null,
    tool_changes    text        not null,
    version         integer     not null default 1,

    -- What the last syncs saw.
    auth_behaviour        text        not null default 'unknown',
    tool_count            integer     not null default 0,
    tools_hash            bytea,
    tools_last_synced_at  timestamptz,
    next_sync_at          timestamptz,
    last_error_code       text,
    last_error_message    text,
    last_error_at         timestamptz,
    server_name           text        not null default '',
    server_version        text        not null default '',
    server_title          text        not null default '',
    server_protocol       text        not null default '',
    server_instructions   text        not null default '',

    -- What a list shows and filters by, in one place.
    status text not null generated always as (case
        when not enabled then 'disabled'
        when last_error_code in ('unauthorized', 'credential_required') then 'needs_auth'
        when last_error_code is not null then 'error'
        when tools_last_synced_at is null then 'never_synced'
        else 'ok' end) stored,

    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    constraint connectors_pkey primary key (tenant_id, id),
    constraint connectors_slug_key unique (tenant_id, slug),
    constraint connectors_name_key unique (tenant_id, name),
    constraint connectors_slug_form check (slug ~ '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$'),
    constraint connectors_name_length check (length(name) between 1 and 100),
    constraint connectors_transport_known check (transport in ('streamable_http', 'sse', 'http', 'stdio')),
    constraint connectors_credential_mode_known check (credential_mode in ('shared', 'per_agent')),
    constraint connectors_auth_type_known check (auth_type in
        ('none', 'bearer', 'api_key', 'basic', 'oauth2', 'client_credentials', 'private_key_jwt')),
    constraint connectors_timeout_range check (timeout_ms between 1000 and 300000),
    constraint connectors_retry_range check (retry_attempts between 0 and 5),
    constraint connectors_url_length check (length(url) <= 2048),
    constraint connectors_headers_object check (jsonb_typeof(headers) = 'object'),
    constraint connectors_tools_hash_length check (length(tools_hash) = 32),
    constraint connectors_interval_range check (sync_interval_s = 0 or sync_interval_s >= 60),
    constraint connectors_tool_changes_known check (tool_changes in ('auto', 'hold_risky', 'hold_all')),
    constraint connectors_auth_behaviour_known check (auth_behaviour in ('unknown', 'open', 'list_open', 'all_auth')),
    constraint connectors_error_whole check (
        (last_error_code is null) = (last_error_message is null) and (last_error_code is null) = (last_error_at is null))
) with (fillfactor = 80);
-- Each sync stamps its connector. No stamped column is indexed and pages keep room, so that a stamp touches no index (HOT).
create index connectors_page_idx on connectors (tenant_id, lower(name), id);

-- How a connector is authenticated. agent_id null: the shared credential. sealed: the secret, encrypted with tenant, table,
-- column, row (connector and agent) and origin as associated data; it opens in its own row only. origin: the scheme, host and
-- port that the secret was given for. It is sent nowhere else, wherever the connector leads by then.
create table credentials (
    tenant_id    uuid        not null,
    id           uuid        not null,
    connector_id uuid        not null,
    agent_id     uuid,
    type         text        not null,
    origin       text        not null,
    sealed       bytea       not null,
    status       text        not null default 'active',
    account      text        not null default '',
    scopes       text[]      not null default '{}',
    expires_at   timestamptz,
    refreshed_at timestamptz,
    last_used_at timestamptz,
    error        text        not null default '',
    version      integer     not null default 1,
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    constraint credentials_pkey primary key (tenant_id, id),
    constraint credentials_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint credentials_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint credentials_owner_key unique nulls not distinct (tenant_id, connector_id, agent_id),
    constraint credentials_origin_given check (origin <> ''),
    constraint credentials_version_positive check (version > 0),
    constraint credentials_status_known check (status in ('active', 'expired', 'refresh_failed', 'revoked')),
    constraint credentials_type_known check (type in
        ('bearer', 'api_key', 'basic', 'oauth2', 'client_credentials', 'private_key_jwt'))
);
create index credentials_agent_idx on credentials (tenant_id, agent_id);

-- +goose Down
drop table credentials;
drop table connectors;
drop table agents;
