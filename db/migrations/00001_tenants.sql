-- +goose Up

-- The tenant that the current transaction works for; null outside one. The store sets it with set_config(…, true).
-- +goose StatementBegin
create function tenant() returns uuid
    language sql stable parallel safe
as $$ select nullif(current_setting('app.tenant_id', true), '')::uuid $$;
-- +goose StatementEnd

-- True in the store's system door, which works across tenants: finding a session, a key, a due connector.
-- +goose StatementBegin
create function system_scope() returns boolean
    language sql stable parallel safe
as $$ select coalesce(current_setting('app.system', true), '') = 'on' $$;
-- +goose StatementEnd

create table tenants (
    id         uuid        not null,
    slug       text        not null,
    name       text        not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    constraint tenants_pkey primary key (id),
    constraint tenants_slug_key unique (slug),
    constraint tenants_slug_form check (slug ~ '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$'),
    constraint tenants_name_length check (length(name) between 1 and 100)
);

-- People stand outside tenants: one person may be a member of several. No tenant reads this table but through memberships.
create table users (
    id              uuid        not null,
    email           text        not null,
    name            text        not null default '',
    password_hash   text,
    password_set_at timestamptz not null default now(), -- sessions that began before it end
    signed_in_at    timestamptz,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    constraint users_pkey primary key (id),
    constraint users_email_key unique (email),
    constraint users_email_form check (email = lower(email) and email ~ '^[^@\s]+@[^@\s]+$' and length(email) <= 254)
);

create table memberships (
    tenant_id  uuid        not null references tenants (id) on delete cascade,
    user_id    uuid        not null references users (id) on delete cascade,
    role       text        not null,
    created_at timestamptz not null default now(),
    constraint memberships_pkey primary key (tenant_id, user_id),
    constraint memberships_role_known check (role in ('viewer', 'member', 'admin', 'owner'))
);
create index memberships_user_id_idx on memberships (user_id);

-- A program's key. The text of the key is pb_key_ + id + secret + checksum; only an HMAC of the secret is stored.
create table api_keys (
    tenant_id    uuid        not null references tenants (id) on delete cascade,
    id           uuid        not null,
    name         text        not null,
    role         text        not null,
    prefix       text        not null,
    secret_mac   bytea       not null,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz,
    constraint api_keys_pkey primary key (tenant_id, id),
    constraint api_keys_id_key unique (id),
    constraint api_keys_role_known check (role in ('viewer', 'member', 'admin', 'owner')),
    constraint api_keys_name_length check (length(name) between 1 and 100)
);

-- The browser's sessions, in the layout that scs/pgxstore wants. The token is stored hashed.
create table sessions (
    token  text        not null,
    data   bytea       not null,
    expiry timestamptz not null,
    constraint sessions_pkey primary key (token)
);
create index sessions_expiry_idx on sessions (expiry);

-- Wrong passwords, counted per account and per address over 15 minutes.
create table sign_in_failures (
    id      bigint      generated always as identity,
    account text        not null,
    address text        not null,
    at      timestamptz not null default now(),
    constraint sign_in_failures_pkey primary key (id)
);
create index sign_in_failures_account_idx on sign_in_failures (account, at);
create index sign_in_failures_address_idx on sign_in_failures (address, at);

-- The single-use links at which a fresh installation gets its owner. Only a hash is stored.
create table setup_links (
    token_hash bytea       not null,
    tenant_id  uuid        not null references tenants (id) on delete cascade,
    created_at timestamptz not null default now(),
    constraint setup_links_pkey primary key (token_hash)
);

-- The keyset that seals secrets and authenticates tokens, wrapped by PATCHBAY_KEYSET.
create table keysets (
    purpose    text        not null,
    wrapped    bytea       not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    constraint keysets_pkey primary key (purpose),
    constraint keysets_purpose_known check (purpose in ('seal', 'mac'))
);

-- One row per running process. A process that stops beating is dead, and its sync runs are closed.
create table instances (
    id         uuid        not null,
    started_at timestamptz not null default now(),
    beat_at    timestamptz not null default now(),
    constraint instances_pkey primary key (id)
);

-- +goose Down
drop table instances;
drop table keysets;
drop table setup_links;
drop table sign_in_failures;
drop table sessions;
drop table api_keys;
drop table memberships;
drop table users;
drop table tenants;
drop function system_scope();
drop function tenant();
