-- +goose Up

-- The schema of 1.0, by topic: tenants and people, keys, agents and connectors, tools and syncs, the gateway, notices,
-- the audit log and the outcomes of calls, then row-level security and rights.
-- Row-level security holds for every role, also for the owner of the tables. The runtime role patchbay_app, which
-- db.Migrate creates, owns nothing.

-- The tenant of the current transaction, or null. The store sets it with set_config.
-- +goose StatementBegin
create function tenant() returns uuid
    language sql stable parallel safe
as $$ select nullif(current_setting('app.tenant_id', true), '')::uuid $$;
-- +goose StatementEnd

-- Reports whether the transaction works across tenants.
-- +goose StatementBegin
create function system_scope() returns boolean
    language sql stable parallel safe
as $$ select coalesce(current_setting('app.system', true), '') = 'on' $$;
-- +goose StatementEnd


-- Tenants and people.

-- A tenant. history_days: how long its history is kept, null: as long as the installation's. default_*: settings of
-- new agents and connectors. most_calls_*: the operator's bound on the tenant's own quota. A quota of 0 is none.
create table tenants (
    id                       uuid        not null,
    slug                     text        not null,
    name                     text        not null,
    created_at               timestamptz not null default now(),
    updated_at               timestamptz not null default now(),
    call_history             text        not null default 'redacted',
    approval_timeout_s       integer     not null default 300,
    history_days             smallint,
    default_approval         text        not null default 'always_ask',
    default_sync_interval_s  integer     not null default 900,
    default_definition_age_s integer     not null default 900,
    default_tool_changes     text        not null default 'hold_risky',
    default_listen           text        not null default 'auto',
    body_readers             text        not null default 'everyone',
    second_factor_required   boolean     not null default false,
    calls_per_minute         integer     not null default 0,
    calls_per_day            integer     not null default 0,
    most_calls_per_minute    integer     not null default 0,
    most_calls_per_day       integer     not null default 0,
    constraint tenants_pkey primary key (id),
    constraint tenants_slug_key unique (slug),
    constraint tenants_slug_form check (slug ~ '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$'),
    constraint tenants_name_length check (length(name) between 1 and 100),
    constraint tenants_call_history_known check (call_history in ('none', 'redacted', 'full')),
    constraint tenants_approval_timeout_range check (approval_timeout_s between 1 and 86400),
    constraint tenants_history_days_range check (history_days between 30 and 3650),
    constraint tenants_default_approval_known check (default_approval in ('auto', 'always_ask', 'trusted_only')),
    constraint tenants_default_sync_interval_bounds check (default_sync_interval_s = 0 or default_sync_interval_s between 60 and 31536000),
    constraint tenants_default_definition_age_bounds check (default_definition_age_s = 0 or default_definition_age_s between 60 and 86400),
    constraint tenants_default_tool_changes_known check (default_tool_changes in ('auto', 'hold_risky', 'hold_all')),
    constraint tenants_default_listen_known check (default_listen in ('auto', 'off')),
    constraint tenants_body_readers_known check (body_readers in ('everyone', 'auditors')),
    constraint tenants_quota_range check (
        calls_per_minute between 0 and 1000000 and calls_per_day between 0 and 1000000000
        and most_calls_per_minute between 0 and 1000000 and most_calls_per_day between 0 and 1000000000)
);

-- A person's account. issued_by: the tenant that made the account and chose its first password; such an account opens
-- that tenant only and ends with it. Null: the person's own account. email is the unique key. That of an issued
-- account has the tenant's id and a colon before the address. address: the e-mail address of either. signed_out_at:
-- when all sessions of the person were ended; programs that act as the person and were admitted before are over.
-- password_hash: see show_password_hashes.
create table users (
    id              uuid        not null,
    email           text        not null,
    name            text        not null default '',
    password_hash   text,
    password_set_at timestamptz not null default now(),
    signed_in_at    timestamptz,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    signed_out_at   timestamptz,
    issued_by       uuid        constraint users_issued_by_fkey references tenants (id) on delete cascade,
    address         text        not null
        generated always as (case when issued_by is null then email else substr(email, 38) end) stored,
    constraint users_pkey primary key (id),
    constraint users_email_key unique (email),
    constraint users_email_form
        check (email = lower(email) and address ~ '^[^@\s]+@[^@\s]+$' and length(address) <= 254),
    constraint users_email_key_form
        check (case when issued_by is null then email !~ '^[0-9a-f-]{36}:' else email = issued_by::text || ':' || address end)
);
create index users_address_idx on users (address);
create index users_issued_by_idx on users (issued_by) where issued_by is not null;

-- The hashes of passwords. Only the system reads them.
create table user_passwords (
    user_id uuid not null,
    hash    text not null,
    constraint user_passwords_pkey primary key (user_id),
    constraint user_passwords_user_fkey foreign key (user_id) references users (id) on delete cascade,
    constraint user_passwords_hash_filled check (hash <> '')
);
-- Finds which costs the stored hashes have. A hash reads $argon2id$v=19$m=65536,t=1,p=4$salt$key.
create index user_passwords_cost_idx on user_passwords (split_part(hash, '$', 4));

-- sso_only: the membership opens only by the tenant's identity provider. signed_out_at: older sessions and programs
-- of the member do not open this tenant. seen_at: last use of the dashboard, within minutes.
create table memberships (
    tenant_id     uuid        not null references tenants (id) on delete cascade,
    user_id       uuid        not null references users (id) on delete cascade,
    role          text        not null,
    created_at    timestamptz not null default now(),
    seen_at       timestamptz,
    sso_only      boolean     not null default false,
    signed_out_at timestamptz,
    constraint memberships_pkey primary key (tenant_id, user_id),
    constraint memberships_role_known check (role in ('viewer', 'member', 'admin', 'owner', 'auditor'))
);
create index memberships_user_id_idx on memberships (user_id);

-- An invitation to become a member. The bearer of the token joins once, with this address; only a hash is stored.
-- sends: how many links were made, sent_at: when the last one was. invited_by: a person, null: an API key or the
-- command line.
create table invitations (
    tenant_id       uuid        not null references tenants (id) on delete cascade,
    id              uuid        not null,
    email           text        not null,
    role            text        not null,
    token_hash      bytea       not null,
    invited_by      uuid,
    invited_by_name text        not null default '',
    created_at      timestamptz not null default now(),
    sent_at         timestamptz not null default now(),
    sends           integer     not null default 1,
    expires_at      timestamptz not null,
    accepted_at     timestamptz,
    revoked_at      timestamptz,
    constraint invitations_pkey primary key (tenant_id, id),
    constraint invitations_token_hash_key unique (token_hash),
    constraint invitations_token_hash_length check (length(token_hash) = 32),
    constraint invitations_email_form check (email = lower(email) and email ~ '^[^@\s]+@[^@\s]+$' and length(email) <= 254),
    constraint invitations_one_end check (accepted_at is null or revoked_at is null),
    constraint invitations_sends_positive check (sends > 0),
    constraint invitations_role_known check (role in ('viewer', 'member', 'admin', 'owner', 'auditor'))
);
-- An address has one open invitation.
create unique index invitations_open_key on invitations (tenant_id, email) where accepted_at is null and revoked_at is null;

-- A key of a program. Its text is pb_key_, id, secret and checksum; only an HMAC of the secret is stored.
create table api_keys (
    tenant_id       uuid        not null references tenants (id) on delete cascade,
    id              uuid        not null,
    name            text        not null,
    role            text        not null,
    prefix          text        not null,
    secret_mac      bytea       not null,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz,
    last_used_at    timestamptz,
    revoked_at      timestamptz,
    created_by_name text        not null default '',
    constraint api_keys_pkey primary key (tenant_id, id),
    constraint api_keys_id_key unique (id),
    constraint api_keys_name_length check (length(name) between 1 and 100),
    constraint api_keys_role_known check (role in ('viewer', 'member', 'admin', 'owner', 'auditor'))
);

-- The browsers' sessions, in the layout of scs/pgxstore. The token is stored hashed.
create table sessions (
    token  text        not null,
    data   bytea       not null,
    expiry timestamptz not null,
    constraint sessions_pkey primary key (token)
);
create index sessions_expiry_idx on sessions (expiry);

-- Where people are signed in: a row for each browser. The data of its session in the table sessions holds the id. A
-- session without its row ends with its next request. seen_at: last use, within a minute. sso_tenant_id: the tenant
-- whose provider signed the person in, null: a password did. confirmed_at: when the person last proved their identity
-- in this session. opened_at: the beginning, by the clock that sets memberships.signed_out_at.
create table browser_sessions (
    id            uuid        not null,
    user_id       uuid        not null references users (id) on delete cascade,
    user_agent    text        not null default '',
    address       text        not null default '',
    began_at      timestamptz not null,
    seen_at       timestamptz not null,
    sso_tenant_id uuid        references tenants (id) on delete cascade,
    second_factor boolean     not null default false,
    confirmed_at  timestamptz,
    opened_at     timestamptz not null default clock_timestamp(),
    constraint browser_sessions_pkey primary key (id),
    constraint browser_sessions_user_agent_length check (length(user_agent) <= 400),
    constraint browser_sessions_address_length check (length(address) <= 400)
);
create index browser_sessions_user_id_idx on browser_sessions (user_id);
create index browser_sessions_began_at_idx on browser_sessions (began_at);
create index browser_sessions_sso_idx on browser_sessions (sso_tenant_id) where sso_tenant_id is not null;

-- The key of a person's one-time codes (RFC 6238), sealed by the installation's key, since a person can be in several
-- tenants. confirmed_at: when its first code was given, null: it is being set up, in the session begun_by. last_step:
-- the time step of the newest accepted code (RFC 6238 section 5.2). wrong_codes: since the last right one.
create table second_factors (
    user_id      uuid        not null references users (id) on delete cascade,
    sealed       bytea       not null,
    created_at   timestamptz not null default now(),
    confirmed_at timestamptz,
    last_step    bigint      not null default 0,
    begun_by     uuid,
    wrong_codes  integer     not null default 0,
    constraint second_factors_pkey primary key (user_id)
);

-- Codes that replace a one-time code, once each. mac: of the person and the code, by the installation's key.
create table recovery_codes (
    user_id uuid        not null references second_factors (user_id) on delete cascade,
    number  smallint    not null,
    mac     bytea       not null,
    used_at timestamptz,
    constraint recovery_codes_pkey primary key (user_id, number),
    constraint recovery_codes_number_few check (number between 1 and 10)
);

-- Wrong passwords, counted for each account and address over 15 minutes. told_at: when the audit log recorded that it
-- locked the account.
create table sign_in_failures (
    id      bigint      generated always as identity,
    account text        not null,
    address text        not null,
    at      timestamptz not null default now(),
    told_at timestamptz,
    constraint sign_in_failures_pkey primary key (id)
);
create index sign_in_failures_account_idx on sign_in_failures (account, at);
create index sign_in_failures_address_idx on sign_in_failures (address, at);

-- Single-use links that make the owner of a fresh installation. Only a hash is stored.
create table setup_links (
    token_hash bytea       not null,
    tenant_id  uuid        not null references tenants (id) on delete cascade,
    created_at timestamptz not null default now(),
    constraint setup_links_pkey primary key (token_hash)
);

-- Sign-in at a tenant's OpenID provider. sealed: the client's secret. joins: a person who signs in becomes a member.
-- default_role: of a person in no known group, null: no access. enforced: passwords open the tenant only for
-- break_glass. tested_at: last successful test of these settings.
create table sso_settings (
    tenant_id    uuid        not null references tenants (id) on delete cascade,
    issuer       text        not null,
    client_id    text        not null,
    sealed       bytea       not null,
    groups_claim text        not null default 'groups',
    joins        boolean     not null default false,
    default_role text,
    enabled      boolean     not null default false,
    enforced     boolean     not null default false,
    break_glass  uuid,
    tested_at    timestamptz,
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    constraint sso_settings_pkey primary key (tenant_id),
    constraint sso_settings_break_glass_fkey foreign key (tenant_id, break_glass) references memberships (tenant_id, user_id),
    constraint sso_settings_lengths check (length(issuer) between 1 and 2048 and length(client_id) between 1 and 500 and length(groups_claim) between 1 and 200),
    constraint sso_settings_default_role_known check (default_role in ('viewer', 'member', 'admin')),
    constraint sso_settings_enabled_tested check (not enabled or tested_at is not null),
    constraint sso_settings_enforced_has_a_way check (not enforced or (enabled and break_glass is not null))
);

-- The role that a group of the provider gives.
create table sso_groups (
    tenant_id  uuid not null references tenants (id) on delete cascade,
    group_name text not null,
    role       text not null,
    constraint sso_groups_pkey primary key (tenant_id, group_name),
    constraint sso_groups_name_length check (length(group_name) between 1 and 200),
    constraint sso_groups_role_known check (role in ('viewer', 'member', 'admin', 'owner', 'auditor'))
);

-- E-mail domains that a tenant claims. A verified domain belongs to one tenant. proof: text of the TXT record.
create table sso_domains (
    tenant_id   uuid        not null references tenants (id) on delete cascade,
    domain      text        not null,
    proof       text        not null,
    created_at  timestamptz not null default now(),
    verified_at timestamptz,
    verified_by text,
    constraint sso_domains_pkey primary key (tenant_id, domain),
    constraint sso_domains_form check (domain = lower(domain) and domain ~ '^[a-z0-9-]+(\.[a-z0-9-]+)+$' and length(domain) <= 253),
    constraint sso_domains_verified_by_known check (verified_by in ('dns', 'operator')),
    constraint sso_domains_verified_whole check ((verified_at is null) = (verified_by is null))
);
create unique index sso_domains_verified_key on sso_domains (domain) where verified_at is not null;

-- The member behind a provider's subject. It ends with the membership.
create table sso_identities (
    tenant_id    uuid        not null references tenants (id) on delete cascade,
    issuer       text        not null,
    subject      text        not null,
    user_id      uuid        not null,
    created_at   timestamptz not null default now(),
    signed_in_at timestamptz not null default now(),
    constraint sso_identities_pkey primary key (tenant_id, issuer, subject),
    constraint sso_identities_user_key unique (tenant_id, issuer, user_id),
    constraint sso_identities_member_fkey foreign key (tenant_id, user_id) references memberships (tenant_id, user_id) on delete cascade,
    constraint sso_identities_subject_length check (length(subject) between 1 and 255)
);
create index sso_identities_member_idx on sso_identities (tenant_id, user_id);

-- Sign-ins under way, for ten minutes and once. browser: hash of the cookie's value, from which state, nonce and
-- verifier derive. tester: the owner who tests the settings. confirms: the session that this sign-in confirms.
-- return_to holds a whole authorization request, whose state and redirect URI can take 3,500 characters before they
-- are encoded.
create table sso_flows (
    tenant_id  uuid        not null references tenants (id) on delete cascade,
    id         uuid        not null,
    browser    bytea       not null,
    issuer     text        not null,
    client_id  text        not null,
    tester     uuid,
    return_to  text        not null default '',
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    confirms   uuid,
    constraint sso_flows_pkey primary key (tenant_id, id),
    constraint sso_flows_browser_length check (length(browser) = 32),
    constraint sso_flows_return_to_length check (length(return_to) <= 8192)
);
create index sso_flows_expires_idx on sso_flows (tenant_id, expires_at);

-- Holds for every way to become a member. Members of one tenant have different addresses.
-- +goose StatementBegin
create function check_membership() returns trigger
    language plpgsql
as $$
declare
    person users;
begin
    select users.* into person from users where users.id = new.user_id;
    if person.issued_by <> new.tenant_id then
        raise exception 'the account was issued by another tenant' using errcode = 'check_violation', constraint = 'memberships_of_issuer';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('patchbay member ' || new.tenant_id::text || ' ' || person.address, 0));
    if exists (
        select from memberships
        join users on users.id = memberships.user_id
        where memberships.tenant_id = new.tenant_id and users.address = person.address and users.id <> person.id)
    then
        raise exception 'a member has this address' using errcode = 'unique_violation', constraint = 'memberships_pkey';
    end if;
    return new;
end $$;
-- +goose StatementEnd
create trigger one_address_once after insert or update of tenant_id, user_id on memberships
    for each row execute function check_membership();

-- Reports to a tenant whether one of its members has a password.
-- +goose StatementBegin
create function has_password(person uuid) returns boolean
    language plpgsql
as $$
declare
    scope constant text := coalesce(current_setting('app.system', true), '');
    found boolean;
begin
    perform set_config('app.system', 'on', true);
    found := exists (
        select from user_passwords
        join memberships on memberships.user_id = user_passwords.user_id
        where user_passwords.user_id = person and memberships.tenant_id = tenant());
    perform set_config('app.system', scope, true);
    return found;
end $$;
-- +goose StatementEnd


-- Keys.

-- The keysets that seal secrets and authenticate tokens, wrapped by PATCHBAY_KEYSET. generation: grows with every
-- change, so that processes read the keys again. per_tenant: secrets are sealed by the tenant's key. moving: the same
-- keys, wrapped by the next PATCHBAY_KEYSET. version: how many MAC keys there have been; fingerprints in the audit
-- log name it.
create table keysets (
    purpose    text        not null,
    wrapped    bytea       not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    generation integer     not null default 1,
    per_tenant boolean     not null default false,
    moving     bytea,
    version    integer     not null default 1,
    constraint keysets_pkey primary key (purpose),
    constraint keysets_purpose_known check (purpose in ('seal', 'mac')),
    constraint keysets_generation_positive check (generation > 0),
    constraint keysets_version_positive check (version > 0)
);

-- The value that PATCHBAY_KEYSET would have, wrapped by a KMS, where the setting names the KMS.
create table kms_keys (
    uri        text        not null,
    wrapped    bytea       not null,
    created_at timestamptz not null default now(),
    constraint kms_keys_pkey primary key (uri),
    constraint kms_keys_uri_names_a_kms check (uri ~ '^(aws-kms|hcvault)://')
);

-- Sealing keys that are gone, by the prefix of everything that they sealed: tink's version and the id of the key.
create table retired_keys (
    prefix     bytea       not null,
    retired_at timestamptz not null default now(),
    constraint retired_keys_pkey primary key (prefix),
    constraint retired_keys_prefix_length check (length(prefix) = 5)
);

-- MAC keys that are gone, by the prefix of everything that they made.
create table retired_mac_keys (
    prefix     bytea       not null,
    retired_at timestamptz not null default now(),
    constraint retired_mac_keys_pkey primary key (prefix),
    constraint retired_mac_keys_prefix_length check (length(prefix) = 5)
);

-- The keys of a tenant, sealed by the installation's. They are deleted with the tenant, and nothing that they sealed
-- opens again. prefix: of everything that the newest key seals.
create table tenant_keys (
    tenant_id  uuid        not null references tenants (id) on delete cascade,
    sealed     bytea       not null,
    prefix     bytea       not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    constraint tenant_keys_pkey primary key (tenant_id),
    constraint tenant_keys_prefix_length check (length(prefix) = 5)
);

-- Replaced keys of tenants. Ids are 32 random bits: one tenant's old id can be another's new one.
create table retired_tenant_keys (
    tenant_id  uuid        not null references tenants (id) on delete cascade,
    prefix     bytea       not null,
    retired_at timestamptz not null default now(),
    constraint retired_tenant_keys_pkey primary key (tenant_id, prefix),
    constraint retired_tenant_keys_prefix_length check (length(prefix) = 5)
);

-- The running processes. A process without a recent beat is dead. steady_since: since when beats came without a gap.
-- keyset_generation: of the keys that the process has read. tenant_keys: it can open tenants' keys. kek: digest of
-- its PATCHBAY_KEYSET. user_passwords: it reads user_passwords.
create table instances (
    id                uuid        not null,
    started_at        timestamptz not null default now(),
    beat_at           timestamptz not null default now(),
    keyset_generation integer     not null default 0,
    steady_since      timestamptz not null default pg_postmaster_start_time(),
    tenant_keys       boolean     not null default false,
    kek               bytea,
    user_passwords    boolean     not null default false,
    constraint instances_pkey primary key (id)
);

-- Refuses a row that a retired key sealed: no process could open it. A process that slept through a rotation may
-- still write one. A rotation takes the lock exclusively. It waits for writers with uncommitted rows and delays later
-- ones.
-- +goose StatementBegin
create function refuse_retired_key() returns trigger
    language plpgsql
as $$
begin
    perform pg_advisory_xact_lock_shared(hashtextextended('patchbay sealed', 0));
    if exists (select from retired_keys where retired_keys.prefix = substring(new.sealed from 1 for 5))
       or exists (select from retired_tenant_keys r where r.tenant_id = new.tenant_id and r.prefix = substring(new.sealed from 1 for 5)) then
        raise exception 'sealed by a retired key' using errcode = 'PB001';
    end if;
    return new;
end $$;
-- +goose StatementEnd
create trigger sealed_by_a_living_key before insert or update of sealed on tenant_keys
    for each row execute function refuse_retired_key();

-- Does the same for rows of no tenant.
-- +goose StatementBegin
create function refuse_retired_installation_key() returns trigger
    language plpgsql
as $$
begin
    perform pg_advisory_xact_lock_shared(hashtextextended('patchbay sealed', 0));
    if exists (select from retired_keys where retired_keys.prefix = substring(new.sealed from 1 for 5)) then
        raise exception 'sealed by a retired key' using errcode = 'PB001';
    end if;
    return new;
end $$;
-- +goose StatementEnd
create trigger sealed_by_a_living_key before insert or update of sealed on second_factors
    for each row execute function refuse_retired_installation_key();

-- Does the same for rows that a MAC key authenticates.
-- +goose StatementBegin
create function refuse_retired_mac() returns trigger
    language plpgsql
as $$
declare made bytea;
begin
    if tg_table_name = 'recovery_codes' then
        made := new.mac;
    else
        made := new.secret_mac;
    end if;
    perform pg_advisory_xact_lock_shared(hashtextextended('patchbay sealed', 0));
    if exists (select from retired_mac_keys r where r.prefix = substring(made from 1 for 5)) then
        raise exception 'authenticated by a retired key' using errcode = 'PB001';
    end if;
    return new;
end $$;
-- +goose StatementEnd
create trigger recognised_by_a_living_key before insert or update of secret_mac on api_keys
    for each row execute function refuse_retired_mac();
create trigger recognised_by_a_living_key before insert or update of mac on recovery_codes
    for each row execute function refuse_retired_mac();

-- Keeps a key that still seals tenants' keys or second factors.
-- +goose StatementBegin
create function refuse_retiring_wrapping_key() returns trigger
    language plpgsql
as $$
begin
    if exists (select from tenant_keys where substring(tenant_keys.sealed from 1 for 5) = new.prefix) then
        raise exception 'tenants'' keys are sealed by this key';
    end if;
    if exists (select from second_factors where substring(second_factors.sealed from 1 for 5) = new.prefix) then
        raise exception 'second factors are sealed by this key';
    end if;
    return new;
end $$;
-- +goose StatementEnd
create trigger wraps_nothing before insert on retired_keys
    for each row execute function refuse_retiring_wrapping_key();

-- Makes every process drop the keys of a deleted tenant: each compares the generation at its heartbeat.
-- +goose StatementBegin
create function tell_of_deleted_keys() returns trigger
    language plpgsql
as $$
begin
    update keysets set generation = generation + 1 where purpose = 'seal';
    return null;
end $$;
-- +goose StatementEnd
create trigger deleted_keys_are_told after delete on tenant_keys
    for each statement execute function tell_of_deleted_keys();

-- Refuses a change of the keys that leaves the second copy behind.
-- +goose StatementBegin
create function keep_both_copies() returns trigger
    language plpgsql
as $$
begin
    if old.moving is not null and new.moving is not distinct from old.moving and new.wrapped <> old.wrapped then
        raise exception 'these keys are being moved to another PATCHBAY_KEYSET' using errcode = 'PB002';
    end if;
    return new;
end $$;
-- +goose StatementEnd
create trigger both_copies_are_one before update on keysets
    for each row execute function keep_both_copies();

-- Fills users.password_hash while a process runs that reads it and not user_passwords.
-- +goose StatementBegin
create function show_password_hashes() returns trigger
    language plpgsql
as $$
begin
    update users
    set password_hash = user_passwords.hash
    from user_passwords
    where user_passwords.user_id = users.id and users.issued_by is null and users.password_hash is distinct from user_passwords.hash;
    return null;
end $$;
-- +goose StatementEnd

-- Empties the column when the last such process ends.
-- +goose StatementBegin
create function hide_password_hashes() returns trigger
    language plpgsql
as $$
begin
    if not exists (select from instances where not instances.user_passwords) then
        update users set password_hash = null where users.password_hash is not null;
    end if;
    return null;
end $$;
-- +goose StatementEnd

-- Stores what such a process writes. An update that only fills a missing password keeps the stored one:
-- password_set_at is unchanged then, and the column was empty.
-- +goose StatementBegin
create function store_password_hash() returns trigger
    language plpgsql
as $$
begin
    if tg_op = 'UPDATE' and new.password_hash = old.password_hash then
        return null;
    elsif tg_op = 'UPDATE' and old.password_hash is null and new.password_set_at = old.password_set_at then
        insert into user_passwords (user_id, hash) values (new.id, new.password_hash) on conflict on constraint user_passwords_pkey do nothing;
    else
        insert into user_passwords (user_id, hash) values (new.id, new.password_hash)
        on conflict on constraint user_passwords_pkey do update set hash = excluded.hash;
    end if;
    return null;
end $$;
-- +goose StatementEnd
create trigger show_password_hashes after insert or update on instances
    for each row when (not new.user_passwords) execute function show_password_hashes();
create trigger hide_password_hashes after delete on instances
    for each statement execute function hide_password_hashes();
create trigger store_password_hash after insert or update of password_hash on users
    for each row when (new.password_hash is not null and pg_trigger_depth() = 0) execute function store_password_hash();


-- Agents and connectors.

-- name_limit: maximum length of the tool names that the agent sees. calls_per_minute: 0 is no limit.
create table agents (
    tenant_id        uuid        not null references tenants (id) on delete cascade,
    id               uuid        not null,
    slug             text        not null,
    name             text        not null,
    description      text        not null default '',
    approval         text        not null default 'always_ask',
    enabled          boolean     not null default true,
    created_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now(),
    name_limit       integer     not null default 64,
    calls_per_minute integer     not null default 0,
    constraint agents_pkey primary key (tenant_id, id),
    constraint agents_slug_key unique (tenant_id, slug),
    constraint agents_slug_form check (slug ~ '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$'),
    constraint agents_name_length check (length(name) between 1 and 100),
    constraint agents_approval_known check (approval in ('auto', 'always_ask', 'trusted_only')),
    constraint agents_name_limit_range check (name_limit between 64 and 128),
    constraint agents_calls_per_minute_range check (calls_per_minute between 0 and 1000000)
);

-- An MCP server of a tenant. oauth: settings that override those of the authorization server
-- (connectors.OAuthSettings), without secrets. command, args, cwd: the program of the transport stdio. era: the
-- family of MCP versions that the server spoke last. max_definition_age_s: maximum age of the last successful sync
-- for a destructive call, 0: none. auth_behaviour to server_instructions: what the last syncs saw. status: what lists
-- show and filter by. accepted_instructions: what agents get while the server's instructions await review or were
-- rejected. A sync updates the row. No updated column is indexed and pages keep room, so that the update is HOT.
create table connectors (
    tenant_id             uuid        not null references tenants (id) on delete cascade,
    id                    uuid        not null,
    slug                  text        not null,
    name                  text        not null,
    description           text        not null default '',
    transport             text        not null,
    url                   text        not null default '',
    headers               jsonb       not null default '{}',
    credential_mode       text        not null,
    auth_type             text        not null,
    auth_header           text        not null default '',
    timeout_ms            integer     not null,
    retry_attempts        integer     not null,
    enabled               boolean     not null,
    sync_interval_s       integer     not null,
    tool_changes          text        not null,
    version               integer     not null default 1,
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
    status                text        not null generated always as (case
        when not enabled then 'disabled'
        when last_error_code in ('unauthorized', 'credential_required') then 'needs_auth'
        when last_error_code is not null then 'error'
        when tools_last_synced_at is null then 'never_synced'
        else 'ok' end) stored,
    created_at            timestamptz not null default now(),
    updated_at            timestamptz not null default now(),
    oauth                 jsonb       not null default '{}',
    command               text        not null default '',
    args                  text[]      not null default '{}',
    cwd                   text        not null default '',
    era                   text        not null default '',
    calls_per_minute      integer     not null default 0,
    server_capabilities   bytea,
    items_hash            bytea,
    max_definition_age_s  integer     not null default 900,
    listen                text        not null default 'auto',
    accepted_instructions text,
    instructions_review   text        not null default 'accepted',
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
        (last_error_code is null) = (last_error_message is null) and (last_error_code is null) = (last_error_at is null)),
    constraint connectors_oauth_object check (jsonb_typeof(oauth) = 'object'),
    constraint connectors_command_fits check ((transport = 'stdio') = (command <> '')),
    constraint connectors_command_absolute check (command = '' or command like '/%'),
    constraint connectors_stdio_has_no_url check (transport <> 'stdio' or url = ''),
    constraint connectors_args_number check (cardinality(args) <= 100),
    constraint connectors_era_known check (era in ('', 'modern', 'handshake', 'sse')),
    constraint connectors_calls_per_minute_range check (calls_per_minute between 0 and 1000000),
    constraint connectors_items_hash_length check (length(items_hash) = 32),
    constraint connectors_definition_age_bounds check (max_definition_age_s = 0 or max_definition_age_s between 60 and 86400),
    constraint connectors_listen_known check (listen in ('auto', 'off')),
    constraint connectors_instructions_review_known check (instructions_review in ('accepted', 'changed', 'rejected')),
    constraint connectors_instructions_held check ((instructions_review = 'accepted') = (accepted_instructions is null))
) with (fillfactor = 80);
create index connectors_page_idx on connectors (tenant_id, lower(name), id);
comment on column connectors.next_sync_at is 'Not used any more: connector_clock.due_at is.';

-- The secret of a client that an admin registered at an authorization server. issuer: the only one that gets the
-- secret, empty: not used yet. origin: of the connector when the secret was entered.
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
    constraint connector_clients_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint connector_clients_client_given check (client_id <> ''),
    constraint connector_clients_origin_given check (origin <> '')
);

-- The environment of a program. program: hash of the command, arguments and folder that it is for; no other program
-- gets it. names: may be shown. sealed: names and values.
create table connector_envs (
    tenant_id    uuid        not null,
    connector_id uuid        not null,
    program      text        not null,
    names        text[]      not null,
    sealed       bytea       not null,
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    constraint connector_envs_pkey primary key (tenant_id, connector_id),
    constraint connector_envs_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint connector_envs_program_given check (program <> '')
);

-- The authentication of a connector. agent_id null: the shared credential. sealed: the secret; tenant, table, column,
-- row and origin are its associated data. origin: the only one that gets the secret. grant_meta: how to refresh an
-- OAuth grant (store.GrantMeta), without secrets. lease_id: the process that refreshes, until lease_until. retry_at:
-- not before, after a temporary failure. connected_at: since when the account is this one, null: unknown.
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
    grant_meta   jsonb       not null default '{}',
    lease_id     uuid,
    lease_until  timestamptz,
    retry_at     timestamptz,
    connected_at timestamptz,
    constraint credentials_pkey primary key (tenant_id, id),
    constraint credentials_owner_key unique nulls not distinct (tenant_id, connector_id, agent_id),
    constraint credentials_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint credentials_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint credentials_origin_given check (origin <> ''),
    constraint credentials_version_positive check (version > 0),
    constraint credentials_status_known check (status in ('active', 'expired', 'refresh_failed', 'revoked')),
    constraint credentials_type_known check (type in
        ('bearer', 'api_key', 'basic', 'oauth2', 'client_credentials', 'private_key_jwt')),
    constraint credentials_grant_meta_object check (jsonb_typeof(grant_meta) = 'object'),
    constraint credentials_lease_whole check ((lease_id is null) = (lease_until is null))
);
create index credentials_agent_idx on credentials (tenant_id, agent_id);
create index credentials_expires_idx on credentials (tenant_id, expires_at) where expires_at is not null;
-- Accounts that nobody has refreshed for a while, the oldest first.
create index credentials_idle_idx on credentials (updated_at, id) where type = 'oauth2' and status in ('active', 'refresh_failed');

-- The client id at an authorization server. sealed: the client secret, null: none.
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

-- Authorizations under way. A flow is read once, by deleting it. state_hash, browser_hash: SHA-256 of what the
-- authorization server and the browser bring back. sealed: the PKCE verifier.
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
    constraint oauth_flows_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint oauth_flows_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint oauth_flows_state_hash_length check (length(state_hash) = 32),
    constraint oauth_flows_origin_given check (origin <> '')
);
create index oauth_flows_connector_idx on oauth_flows (tenant_id, connector_id);
create index oauth_flows_agent_idx on oauth_flows (tenant_id, agent_id) where agent_id is not null;

-- Links for the owner of an account. A link works once.
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
    constraint connect_links_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint connect_links_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint connect_links_token_hash_length check (length(token_hash) = 32)
);
create index connect_links_connector_idx on connect_links (tenant_id, connector_id);
create index connect_links_agent_idx on connect_links (tenant_id, agent_id) where agent_id is not null;

-- Calls that lacked an account and told their client where a person connects it. session: the client to notify,
-- empty: it returns with a state. connected_at: when the account was connected. used_at: when the call continued,
-- once.
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

-- Grants of deleted or replaced credentials, until their authorization server has revoked them or a day has passed.
-- sealed opens by connector, agent and origin of the row. id: that of a deleted credential. connector_slug,
-- connector_name: when the credential was deleted. claimed_until: a process tries the revocation, so that tries per
-- tenant and issuer are bounded; a claim of a dead process lapses. due_at: after the request that revokes the grant
-- by itself.
create table account_revocations (
    tenant_id      uuid        not null references tenants (id) on delete cascade,
    id             uuid        not null,
    connector_id   uuid        not null,
    agent_id       uuid,
    origin         text        not null,
    sealed         bytea       not null,
    grant_meta     jsonb       not null,
    account        text        not null default '',
    tries          integer     not null default 0,
    due_at         timestamptz not null default now() + interval '10 seconds',
    created_at     timestamptz not null default now(),
    connector_slug text        not null default '',
    connector_name text        not null default '',
    claimed_until  timestamptz,
    constraint account_revocations_pkey primary key (tenant_id, id),
    constraint account_revocations_tries_positive check (tries >= 0)
);
create index account_revocations_due_idx on account_revocations (due_at);
create index account_revocations_claimed_idx on account_revocations (claimed_until) where claimed_until is not null;

-- The secret of the connector's own client for such a revocation, since the connector can be gone or changed.
create table revocation_clients (
    tenant_id    uuid  not null,
    id           uuid  not null,
    connector_id uuid  not null,
    client_id    text  not null,
    origin       text  not null,
    issuer       text  not null,
    sealed       bytea not null,
    constraint revocation_clients_pkey primary key (tenant_id, id),
    constraint revocation_clients_revocation_fkey foreign key (tenant_id, id) references account_revocations (tenant_id, id) on delete cascade
);

-- Queues the revocation of a grant that is deleted or replaced. A deleted tenant queues none: the key that opens the
-- grant is gone. A replaced credential keeps its id and can be deleted later, so that its revocation has an id of its
-- own.
-- +goose StatementBegin
create function queue_revocation() returns trigger
    language plpgsql
as $$
declare
    revocation uuid := case tg_op when 'DELETE' then old.id else gen_random_uuid() end;
begin
    if not exists (select from tenants where tenants.id = old.tenant_id) then
        return case tg_op when 'DELETE' then old else new end;
    end if;
    insert into account_revocations (tenant_id, id, connector_id, agent_id, origin, sealed, grant_meta, account, connector_slug, connector_name)
    select old.tenant_id, revocation, old.connector_id, old.agent_id, old.origin, old.sealed, old.grant_meta, old.account,
           coalesce(c.slug, ''), coalesce(c.name, '')
    from (select) one
    left join connectors c on c.tenant_id = old.tenant_id and c.id = old.connector_id
    on conflict on constraint account_revocations_pkey do nothing;
    insert into revocation_clients (tenant_id, id, connector_id, client_id, origin, issuer, sealed)
    select c.tenant_id, revocation, c.connector_id, c.client_id, c.origin, c.issuer, c.sealed
    from connector_clients c
    where c.tenant_id = old.tenant_id
      and c.connector_id = old.connector_id
      and c.client_id = old.grant_meta ->> 'client_id'
      and c.issuer = old.grant_meta #>> '{server,issuer}'
    on conflict on constraint revocation_clients_pkey do nothing;
    return case tg_op when 'DELETE' then old else new end;
end $$;
-- +goose StatementEnd
create trigger queue_revocation before delete on credentials
    for each row when (old.type = 'oauth2' and old.status <> 'revoked')
    execute function queue_revocation();
-- An account that becomes known or unknown can be another one: the job decides.
create trigger queue_revocation_of_replaced before update on credentials
    for each row when (
        old.type = 'oauth2' and old.status <> 'revoked' and (
            new.type <> 'oauth2'
            or new.account is distinct from old.account
            or new.grant_meta ->> 'client_id' is distinct from old.grant_meta ->> 'client_id'
            or new.grant_meta #>> '{server,issuer}' is distinct from old.grant_meta #>> '{server,issuer}'))
    execute function queue_revocation();

-- Deletes the credentials of a connector before the connector. A cascade could delete them after the connector's
-- client: its order follows the OIDs of foreign keys, which a restored dump assigns anew.
-- +goose StatementBegin
create function delete_credentials_of_connector() returns trigger
    language plpgsql
as $$
begin
    delete from credentials where credentials.tenant_id = old.tenant_id and credentials.connector_id = old.id;
    return old;
end $$;
-- +goose StatementEnd
create trigger delete_credentials_of_connector before delete on connectors
    for each row execute function delete_credentials_of_connector();


-- Tools and syncs.

-- Definitions, once for each tenant and content. hash: SHA-256 of raw, the bytes that the server sent. title,
-- description, search: read from raw. The column search has no index: row-level security allows only leakproof
-- operators in an index, and @@ is not one. No foreign keys lead to or from definitions: each cost as much as the
-- row. A writer holds the lock of the connector, and a definition is deleted under a lock when no tool has it.
create table tool_definitions (
    tenant_id   uuid        not null,
    hash        bytea       not null,
    raw         bytea       not null,
    title       text        not null default '',
    description text        not null default '',
    search      tsvector    not null,
    created_at  timestamptz not null default now(),
    constraint tool_definitions_pkey primary key (tenant_id, hash),
    constraint tool_definitions_hash_length check (length(hash) = 32)
);

-- current_hash: what the server says now. accepted_hash: what agents get. last_seen_at: written when the tool goes.
-- alias, agent_text: name and description for agents, empty: those of the server. tags: for people. A quota of 0 is
-- none.
create table tools (
    tenant_id        uuid        not null,
    connector_id     uuid        not null,
    name             text        not null,
    current_hash     bytea       not null,
    accepted_hash    bytea,
    review           text        not null,
    enabled          boolean     not null default true,
    first_seen_at    timestamptz not null,
    last_seen_at     timestamptz not null,
    changed_at       timestamptz not null,
    removed_at       timestamptz,
    alias            text        not null default '',
    agent_text       text        not null default '',
    tags             text[]      not null default '{}',
    calls_per_minute integer     not null default 0,
    calls_per_day    integer     not null default 0,
    constraint tools_pkey primary key (tenant_id, connector_id, name),
    constraint tools_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint tools_name_length check (length(name) between 1 and 128),
    constraint tools_review_known check (review in ('accepted', 'changed', 'new', 'rejected')),
    constraint tools_accepted_is_current check (review <> 'accepted' or accepted_hash = current_hash),
    constraint tools_changed_keeps_accepted check (review <> 'changed' or accepted_hash is not null),
    constraint tools_new_has_no_accepted check (review <> 'new' or accepted_hash is null),
    constraint tools_alias_spelling check (alias = '' or alias ~ '^[A-Za-z0-9_.-]{1,128}$'),
    constraint tools_agent_text_length check (length(agent_text) <= 4000),
    constraint tools_tags_few check (cardinality(tags) <= 20),
    constraint tools_quota_range check (calls_per_minute between 0 and 1000000 and calls_per_day between 0 and 1000000000)
) with (fillfactor = 85);
-- Two tools of a connector have different aliases.
create unique index tools_alias_key on tools (tenant_id, connector_id, alias) where alias <> '';
-- The tools of all connectors in the order of the page.
create index tools_name_idx on tools (tenant_id, name, connector_id);

-- Malformed entries of the last list, with the reason.
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

-- Prompts, resources and resource templates. key: name, URI or URI template. raw: the bytes that the server sent.
create table connector_items (
    tenant_id    uuid    not null,
    connector_id uuid    not null,
    kind         text    not null,
    position     integer not null,
    key          text    not null,
    raw          bytea   not null,
    constraint connector_items_pkey primary key (tenant_id, connector_id, kind, position),
    constraint connector_items_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint connector_items_kind_known check (kind in ('prompt', 'resource', 'template'))
);

-- New, changed and removed tools after the first sync. A change without a tool is one of the instructions.
-- before_hash: what agents got, null: none. after_hash null: removed. kinds, risk: of package toolchange. state:
-- waiting, accepted or rejected by a person, automatic by policy, or superseded by a newer change. The run can be
-- gone.
create table tool_changes (
    tenant_id    uuid        not null,
    id           uuid        not null,
    connector_id uuid        not null,
    tool         text        not null,
    sync_run_id  uuid,
    seen_at      timestamptz not null default now(),
    before_hash  bytea,
    after_hash   bytea,
    kinds        text[]      not null,
    risk         text        not null,
    state        text        not null,
    decided_by   text        not null default '',
    decided_at   timestamptz,
    constraint tool_changes_pkey primary key (tenant_id, id),
    constraint tool_changes_risk_known check (risk in ('none', 'low', 'high')),
    constraint tool_changes_state_known check (state in ('waiting', 'accepted', 'rejected', 'automatic', 'superseded')),
    constraint tool_changes_decided check ((state in ('accepted', 'rejected')) = (decided_at is not null)),
    constraint tool_changes_has_definition check (after_hash is not null or before_hash is not null),
    constraint tool_changes_waiting_has_definition check (state <> 'waiting' or after_hash is not null)
);
create index tool_changes_tool_idx on tool_changes (tenant_id, connector_id, tool, id desc);
create index tool_changes_waiting_idx on tool_changes (tenant_id, id desc) where state = 'waiting';
-- One change of a tool waits: the newest.
create unique index tool_changes_one_waits_key on tool_changes (tenant_id, connector_id, tool) where state = 'waiting';

-- Attempts to read a connector. instance_id: the process that runs it. repeats: how often later scheduled syncs had
-- the same result, the last at repeated_at. sweep_id: runs that were queued together for the whole tenant; the
-- greatest id is the newest.
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
    repeats           integer     not null default 0,
    repeated_at       timestamptz,
    sweep_id          uuid,
    constraint sync_runs_pkey primary key (tenant_id, id),
    constraint sync_runs_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint sync_runs_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete set null (agent_id),
    constraint sync_runs_trigger_known check (trigger in ('manual', 'api', 'oauth', 'schedule', 'list_changed')),
    constraint sync_runs_state_known check (state in ('queued', 'running', 'ok', 'error')),
    constraint sync_runs_running_has_owner check (state <> 'running' or (instance_id is not null and started_at is not null)),
    constraint sync_runs_ended_has_end check ((state in ('ok', 'error')) = (finished_at is not null)),
    constraint sync_runs_error_whole check ((error_code is null) = (error_message is null)),
    constraint sync_runs_repeats_whole check ((repeats > 0) = (repeated_at is not null))
);
-- Two syncs of one connector never run at the same time.
create unique index sync_runs_one_running_key on sync_runs (tenant_id, connector_id) where state = 'running';
-- One queued run is enough: it reads what is there when it runs.
create unique index sync_runs_one_queued_key on sync_runs (tenant_id, connector_id) where state = 'queued';
create index sync_runs_connector_idx on sync_runs (tenant_id, connector_id, id desc);
create index sync_runs_running_instance_idx on sync_runs (instance_id) where state = 'running';
-- For the deletion of an agent.
create index sync_runs_agent_idx on sync_runs (tenant_id, agent_id) where agent_id is not null;
create index sync_runs_sweep_idx on sync_runs (tenant_id, sweep_id) where sweep_id is not null;

-- The HTTP requests of a run that found something, failed, or that a person started.
create table sync_run_requests (
    tenant_id uuid  not null,
    run_id    uuid  not null,
    requests  jsonb not null,
    constraint sync_run_requests_pkey primary key (tenant_id, run_id),
    constraint sync_run_requests_run_fkey foreign key (tenant_id, run_id) references sync_runs (tenant_id, id) on delete cascade,
    constraint sync_run_requests_few check (jsonb_typeof(requests) = 'array' and jsonb_array_length(requests) <= 64)
);

-- When a connector is due, and its recent syncs. The row is small and hot: only due_at is indexed. due_at null: never
-- by schedule. claimed_by: the process that syncs now; the claim of a process that is not in instances counts for
-- nothing. claimed_at tells two claims of a process apart. run_id: the newest run, which later scheduled syncs with
-- the same result count in checks. hour: the current hour, counted in hour_*. known_until: until then a scheduled
-- sync need not initialize the server first.
create table connector_clock (
    tenant_id     uuid        not null,
    connector_id  uuid        not null,
    shard         smallint    not null generated always as (get_byte(uuid_send(tenant_id), 15) % 16) stored,
    failures      integer     not null default 0,
    failing_since timestamptz,
    run_id        uuid,
    hour          timestamptz not null default '-infinity',
    due_at        timestamptz,
    claimed_by    uuid,
    claimed_at    timestamptz,
    checked_at    timestamptz,
    ok_at         timestamptz,
    checks        integer     not null default 0,
    hour_ok       integer     not null default 0,
    hour_failed   integer     not null default 0,
    hour_ms       bigint      not null default 0,
    hour_max_ms   bigint      not null default 0,
    known_until   timestamptz,
    constraint connector_clock_pkey primary key (tenant_id, connector_id),
    constraint connector_clock_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint connector_clock_claim_whole check ((claimed_by is null) = (claimed_at is null)),
    constraint connector_clock_failing_whole check ((failures = 0) = (failing_since is null))
) with (fillfactor = 75);
create index connector_clock_due_idx on connector_clock (shard, due_at);

-- Past hours of a connector's syncs. rolled: the row is part of sync_hours.
create table connector_health (
    tenant_id    uuid        not null,
    connector_id uuid        not null,
    hour         timestamptz not null,
    ok           integer     not null,
    failed       integer     not null,
    ms_sum       bigint      not null,
    ms_max       bigint      not null,
    rolled       boolean     not null default false,
    constraint connector_health_pkey primary key (tenant_id, connector_id, hour),
    constraint connector_health_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade
);
create index connector_health_unrolled_idx on connector_health (tenant_id, hour) where not rolled;

-- A tenant's syncs by hour. tools: their number when the hour was last updated.
create table sync_hours (
    tenant_id uuid        not null references tenants (id) on delete cascade,
    hour      timestamptz not null,
    ok        integer     not null,
    failed    integer     not null,
    tools     integer,
    constraint sync_hours_pkey primary key (tenant_id, hour)
);
create index sync_hours_age_idx on sync_hours (hour);

-- When a process last looked for due connectors. One row.
create table clock_turn (
    one boolean     not null default true,
    at  timestamptz not null default '-infinity',
    constraint clock_turn_pkey primary key (one),
    constraint clock_turn_one check (one)
);
insert into clock_turn default values;

-- Connectors whose servers announce changes. One process at most holds the stream. state: of the stream, since when.
-- due_at: when a process may open it, null: after a person allows it. reason: code for off or waiting. version,
-- credential_*: what the stream was opened with. failures: in a row. vain: notifications in a row without a change.
-- missed: nobody listened for a while, and the lists are to be read.
create table upstream_listeners (
    tenant_id          uuid        not null,
    connector_id       uuid        not null,
    instance_id        uuid,
    state              text        not null default 'waiting',
    since              timestamptz not null default now(),
    due_at             timestamptz default now(),
    reason             text        not null default '',
    version            integer     not null,
    credential_id      uuid,
    credential_version integer     not null default 0,
    failures           integer     not null default 0,
    vain               integer     not null default 0,
    notified           bigint      not null default 0,
    last_notified_at   timestamptz,
    missed             boolean     not null default false,
    constraint upstream_listeners_pkey primary key (tenant_id, connector_id),
    constraint upstream_listeners_connector_fkey foreign key (tenant_id, connector_id)
        references connectors (tenant_id, id) on delete cascade,
    constraint upstream_listeners_instance_fkey foreign key (instance_id) references instances (id) on delete set null,
    constraint upstream_listeners_state_known check (state in ('waiting', 'listening', 'off')),
    constraint upstream_listeners_off_has_reason check (state <> 'off' or reason <> ''),
    constraint upstream_listeners_off_is_free check (state <> 'off' or instance_id is null),
    constraint upstream_listeners_counts_positive check (failures >= 0 and vain >= 0 and notified >= 0)
);
create index upstream_listeners_due_idx on upstream_listeners (due_at) where instance_id is null;
create index upstream_listeners_instance_idx on upstream_listeners (instance_id);

-- When a synced connector is due again: after its interval, up to a twentieth sooner or later, so that connectors
-- spread out. Intervals from a minute on end at multiples of five seconds, so that due connectors come in batches.
-- Null: never.
-- +goose StatementBegin
create function next_due(interval_s integer) returns timestamptz
    language sql
as $$ select case when interval_s >= 60 then date_bin(interval '5 seconds', at, timestamptz 'epoch') else at end
      from (select now() + nullif(interval_s, 0) * (0.95 + 0.1 * random()) * interval '1 second' as at) _ $$;
-- +goose StatementEnd

-- Sets the clock of a new or changed connector to one interval from now. A disabled connector, or one without an
-- interval, is never due.
-- +goose StatementBegin
create function set_clock() returns trigger
    language plpgsql
as $$
begin
    insert into connector_clock (tenant_id, connector_id, due_at)
    values (new.tenant_id, new.id, case when new.enabled then now() + make_interval(secs => nullif(new.sync_interval_s, 0)) end)
    on conflict on constraint connector_clock_pkey do update set due_at = excluded.due_at, known_until = null;
    return null;
end $$;
-- +goose StatementEnd
create trigger set_new_clock after insert on connectors for each row execute function set_clock();
create trigger set_clock after update of version on connectors for each row
    when (new.version <> old.version) execute function set_clock();

-- Sets the clock of a connector that waited for a credential.
-- +goose StatementBegin
create function resume_clock() returns trigger
    language plpgsql
as $$
begin
    update connector_clock
    set due_at = now() + make_interval(secs => least(connectors.sync_interval_s, 60))
    from connectors
    where connector_clock.tenant_id = new.tenant_id and connector_clock.connector_id = new.connector_id and connector_clock.due_at is null
      and connectors.tenant_id = new.tenant_id and connectors.id = new.connector_id and connectors.enabled and connectors.sync_interval_s > 0;
    return null;
end $$;
-- +goose StatementEnd
create trigger resume_clock after insert or update of version on credentials
    for each row when (new.status = 'active') execute function resume_clock();
create trigger resume_clock after insert or update on connector_envs
    for each row execute function resume_clock();

-- Stores the counts of a finished hour.
-- +goose StatementBegin
create function keep_hour() returns trigger
    language plpgsql
as $$
begin
    insert into connector_health (tenant_id, connector_id, hour, ok, failed, ms_sum, ms_max)
    values (old.tenant_id, old.connector_id, old.hour, old.hour_ok, old.hour_failed, old.hour_ms, old.hour_max_ms)
    on conflict on constraint connector_health_pkey do nothing;
    return null;
end $$;
-- +goose StatementEnd
create trigger keep_hour after update of hour on connector_clock for each row
    when (new.hour > old.hour and old.hour_ok + old.hour_failed > 0) execute function keep_hour();

-- Deletes the changes of a deleted connector, and the tools and definitions of a deleted tenant. They have no foreign
-- keys.
-- +goose StatementBegin
create function leave_definitions() returns trigger
    language plpgsql
as $$
begin
    case tg_table_name
        when 'connectors' then
            delete from tool_changes using gone where tool_changes.tenant_id = gone.tenant_id and tool_changes.connector_id = gone.id;
        when 'tenants' then -- its tools would go a moment later
            delete from tools using gone where tools.tenant_id = gone.id;
            delete from tool_definitions using gone where tool_definitions.tenant_id = gone.id;
    end case;
    return null;
end $$;
-- +goose StatementEnd
create trigger leave_changes after delete on connectors referencing old table as gone for each statement execute function leave_definitions();
create trigger leave_definitions after delete on tenants referencing old table as gone for each statement execute function leave_definitions();


-- The gateway.

-- Programs that registered at the authorization server (RFC 7591), of no tenant. name: unchecked. used_on: the last
-- day with a sign-in or a refresh, null: never.
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

-- A person's consent that a program acts as an agent, or as the person with a scope at /mcp/admin. Its tokens end
-- with it. client_id: of a registered program, or the URL of its document on client_host. resource: the path at the
-- gateway. code_mac, challenge, redirect_uri: of the authorization code, valid once until code_expires_at.
-- generation: of the refresh token, 0: the code is unused. salt: refresh tokens derive from it and a key. by_sso: the
-- person had signed in at the tenant's provider.
create table agent_clients (
    tenant_id       uuid        not null references tenants (id) on delete cascade,
    id              uuid        not null,
    agent_id        uuid,
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
    scope           text,
    by_sso          boolean     not null default false,
    constraint agent_clients_pkey primary key (tenant_id, id),
    constraint agent_clients_id_key unique (id),
    constraint agent_clients_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint agent_clients_member_fkey foreign key (tenant_id, user_id) references memberships (tenant_id, user_id) on delete cascade,
    constraint agent_clients_lengths check (
        length(client_id) between 1 and 2048 and length(client_name) between 1 and 100 and length(client_host) <= 300
        and length(resource) between 4 and 100 and length(redirect_uri) between 1 and 2048),
    constraint agent_clients_challenge_length check (length(challenge) = 32),
    constraint agent_clients_salt_length check (length(salt) = 32),
    constraint agent_clients_generation_used check ((generation = 0) = (rotated_at is null) and (generation = 0 or code_used_at is not null)),
    constraint agent_clients_agent_or_member check ((agent_id is null) = (scope is not null) and (scope is not null) = (resource = '/mcp/admin')),
    constraint agent_clients_scope_known check (scope in ('admin:read', 'admin'))
);
create index agent_clients_agent_idx on agent_clients (tenant_id, agent_id, id desc);
create index agent_clients_member_idx on agent_clients (tenant_id, user_id, id desc);
create index agent_clients_expires_idx on agent_clients (tenant_id, expires_at);

-- Tokens of agents. Only an HMAC of the secret is stored. agent_client_id: the program that has the access token,
-- null: a person made the token. resource: the only path that it opens, null: all.
create table agent_tokens (
    tenant_id       uuid        not null,
    id              uuid        not null,
    agent_id        uuid        not null,
    name            text        not null default '',
    prefix          text        not null,
    secret_mac      bytea       not null,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz,
    last_used_at    timestamptz,
    agent_client_id uuid,
    resource        text,
    constraint agent_tokens_pkey primary key (tenant_id, id),
    constraint agent_tokens_id_key unique (id),
    constraint agent_tokens_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint agent_tokens_agent_client_fkey foreign key (tenant_id, agent_client_id) references agent_clients (tenant_id, id) on delete cascade,
    constraint agent_tokens_name_length check (length(name) <= 100),
    constraint agent_tokens_of_a_client_bound check (agent_client_id is null or (resource is not null and expires_at is not null))
);
create index agent_tokens_agent_idx on agent_tokens (tenant_id, agent_id);
create index agent_tokens_agent_client_idx on agent_tokens (tenant_id, agent_client_id) where agent_client_id is not null;

-- Access tokens of programs that act as a person.
create table member_tokens (
    tenant_id       uuid        not null,
    id              uuid        not null,
    agent_client_id uuid        not null,
    secret_mac      bytea       not null,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null,
    last_used_at    timestamptz,
    constraint member_tokens_pkey primary key (tenant_id, id),
    constraint member_tokens_id_key unique (id),
    constraint member_tokens_agent_client_fkey foreign key (tenant_id, agent_client_id) references agent_clients (tenant_id, id) on delete cascade
);
create index member_tokens_agent_client_idx on member_tokens (tenant_id, agent_client_id);
create index member_tokens_expires_idx on member_tokens (tenant_id, expires_at);

-- Agents that people made for programs of their own, and may let further programs use.
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

-- What an agent may use: all tools of a connector, also later ones, or the named ones. approval null: the agent's.
create table agent_grants (
    tenant_id     uuid        not null,
    agent_id      uuid        not null,
    connector_id  uuid        not null,
    all_tools     boolean     not null,
    tools         text[]      not null default '{}',
    approval      text,
    trusted_tools text[]      not null default '{}',
    created_at    timestamptz not null default now(),
    updated_at    timestamptz not null default now(),
    constraint agent_grants_pkey primary key (tenant_id, agent_id, connector_id),
    constraint agent_grants_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint agent_grants_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint agent_grants_all_or_named check (not all_tools or cardinality(tools) = 0),
    constraint agent_grants_tools_number check (cardinality(tools) <= 5000 and cardinality(trusted_tools) <= 5000),
    constraint agent_grants_approval_known check (approval in ('auto', 'always_ask', 'trusted_only'))
);
create index agent_grants_connector_idx on agent_grants (tenant_id, connector_id);

-- The calls, written in batches by the process that makes them. A dead process leaves a call in state running, which
-- is closed as an error. agent_slug, connector_slug, tool: as they were. arguments, content, structured: as
-- call_history says. packed: content and structured in one (ADR 16). task_handle: the agent's handle of the task,
-- sealed; task lacks it. progress: the server's last report. bytes: on the wire. address, request_id: null if
-- unknown. The table has no foreign keys: their checks were half of the cost of a row. A writer locks the rows that
-- it names.
create table tool_calls (
    tenant_id       uuid        not null,
    id              uuid        not null,
    agent_id        uuid,
    agent_slug      text        not null,
    connector_id    uuid,
    connector_slug  text        not null,
    kind            text        not null default 'tool',
    tool            text        not null,
    exposed_name    text        not null,
    source          text        not null default 'gateway',
    caller          text        not null default '',
    token_id        uuid,
    credential_id   uuid,
    definition_hash bytea,
    instance_id     uuid,
    status          text        not null,
    outcome         text        not null default '',
    error_code      text        not null default '',
    error_message   text        not null default '',
    is_error        boolean     not null default false,
    approved_by     text        not null default '',
    arguments       bytea,
    content         bytea,
    structured      bytea,
    task            bytea,
    truncated       boolean     not null default false,
    request_bytes   bigint      not null default 0,
    response_bytes  bigint      not null default 0,
    started_at      timestamptz not null,
    completed_at    timestamptz,
    duration_us     bigint,
    task_handle     text,
    progress        bytea,
    address         text,
    request_id      text,
    packed          bytea,
    constraint tool_calls_pkey primary key (tenant_id, id),
    constraint tool_calls_kind_known check (kind in ('tool', 'prompt', 'resource', 'completion')),
    constraint tool_calls_source_known check (source in ('gateway', 'api', 'dashboard')),
    constraint tool_calls_status_known check (status in ('pending_approval', 'running', 'success', 'error', 'denied', 'cancelled')),
    constraint tool_calls_outcome_known check (outcome in ('', 'ok', 'tool_error', 'rpc_error', 'transport', 'refused', 'denied', 'cancelled', 'lost')),
    constraint tool_calls_ended_has_end check (
        (status in ('success', 'error', 'denied', 'cancelled')) = (completed_at is not null) and (completed_at is null) = (duration_us is null))
);
create index tool_calls_agent_idx on tool_calls (tenant_id, agent_id, id desc);
create index tool_calls_connector_idx on tool_calls (tenant_id, connector_id, id desc);
create index tool_calls_open_idx on tool_calls (tenant_id, id) where completed_at is null;
-- Calls that run as tasks of their server, the newest first.
create index tool_calls_tasks_idx on tool_calls (tenant_id, id desc) where task_handle is not null;
-- Contents are compressed by lz4, where PostgreSQL has it: it takes half the time of pglz.
-- +goose StatementBegin
do $$
begin
    alter table tool_calls
        alter column arguments set compression lz4,
        alter column content set compression lz4,
        alter column structured set compression lz4;
exception when feature_not_supported then
    null;
end $$;
-- +goose StatementEnd
-- The program has packed it already.
alter table tool_calls alter column packed set storage external;

-- Calls that wait for a person, until their result is fetched or has lapsed. id: of the call. sealed: the arguments.
-- call_hash: of agent, connector, tool and arguments; a repeated call finds the row. state: waiting; approved, denied
-- or lapsed; executing by instance_id; done, with a row in approval_results; unknown, since the process died
-- meanwhile.
create table approvals (
    tenant_id       uuid        not null,
    id              uuid        not null,
    agent_id        uuid        not null,
    connector_id    uuid        not null,
    tool            text        not null,
    exposed_name    text        not null,
    definition_hash bytea       not null,
    call_hash       bytea       not null,
    sealed          bytea       not null,
    state           text        not null default 'waiting',
    asked_at        timestamptz not null default now(),
    expires_at      timestamptz not null,
    decided_at      timestamptz,
    decided_by      text        not null default '',
    reason          text        not null default '',
    instance_id     uuid,
    fetched_at      timestamptz,
    constraint approvals_pkey primary key (tenant_id, id),
    constraint approvals_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint approvals_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint approvals_state_known check (state in ('waiting', 'approved', 'denied', 'lapsed', 'executing', 'done', 'unknown')),
    constraint approvals_decided check ((state in ('waiting', 'lapsed')) = (decided_at is null)),
    constraint approvals_executing_has_owner check (state <> 'executing' or instance_id is not null)
);
create index approvals_open_idx on approvals (tenant_id, id) where state in ('waiting', 'approved', 'executing');
-- The same call has one row while it is open or its result is not fetched.
create unique index approvals_same_call_key on approvals (tenant_id, call_hash)
    where state in ('waiting', 'approved', 'executing') or (state = 'done' and fetched_at is null);
create index approvals_agent_idx on approvals (tenant_id, agent_id);
create index approvals_connector_idx on approvals (tenant_id, connector_id);

-- The sealed result of an approved call, for the repeated call.
create table approval_results (
    tenant_id uuid  not null,
    id        uuid  not null,
    sealed    bytea not null,
    constraint approval_results_pkey primary key (tenant_id, id),
    constraint approval_results_approval_fkey foreign key (tenant_id, id) references approvals (tenant_id, id) on delete cascade
);

-- Tools that need no approval until a time. definition_hash: what the person saw, null: the row allows nothing.
create table tool_allowances (
    tenant_id       uuid        not null,
    agent_id        uuid        not null,
    connector_id    uuid        not null,
    tool            text        not null,
    until           timestamptz not null,
    granted_by      text        not null,
    definition_hash bytea,
    constraint tool_allowances_pkey primary key (tenant_id, agent_id, connector_id, tool),
    constraint tool_allowances_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
    constraint tool_allowances_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint tool_allowances_definition_hash_length check (length(definition_hash) = 32)
);
create index tool_allowances_connector_idx on tool_allowances (tenant_id, connector_id);

-- Confirmations of a person that were used, each once at any server.
create table spent_confirmations (
    tenant_id uuid        not null references tenants (id) on delete cascade,
    id        uuid        not null,
    until     timestamptz not null,
    constraint spent_confirmations_pkey primary key (tenant_id, id)
);
create index spent_confirmations_until_idx on spent_confirmations (tenant_id, until);

-- Messages from one process for another, for minutes: an answer of a client that arrived elsewhere, or a reply whose
-- stream broke. box: the receiver.
create table gateway_mail (
    tenant_id  uuid        not null references tenants (id) on delete cascade,
    id         uuid        not null,
    agent_id   uuid        not null,
    box        text        not null,
    sealed     bytea       not null,
    expires_at timestamptz not null,
    constraint gateway_mail_pkey primary key (tenant_id, id),
    constraint gateway_mail_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
);
create index gateway_mail_box_idx on gateway_mail (tenant_id, box, id);
create index gateway_mail_expiry_idx on gateway_mail (expires_at);
create index gateway_mail_agent_idx on gateway_mail (tenant_id, agent_id);

-- The calls of a day (UTC) under a quota, of all processes. over_*: refused calls. The nil UUID and an empty tool
-- stand for the tenant's quota. The connector is no foreign key: its row goes with the day.
create table quota_days (
    tenant_id    uuid   not null references tenants (id) on delete cascade,
    day          date   not null,
    connector_id uuid   not null,
    tool         text   not null,
    calls        bigint not null,
    over_minute  bigint not null,
    over_day     bigint not null,
    constraint quota_days_pkey primary key (tenant_id, day, connector_id, tool)
) with (fillfactor = 70);
create index quota_days_age_idx on quota_days (day);

-- A tenant's finished calls by hour. bucket: the server's latency (latency_bucket), -1: none, since the call was not
-- sent, waited for a person, or is a task. failed: status error. other: denied and cancelled.
create table call_hours (
    tenant_id uuid        not null references tenants (id) on delete cascade,
    hour      timestamptz not null,
    bucket    smallint    not null,
    ok        integer     not null,
    failed    integer     not null,
    other     integer     not null,
    constraint call_hours_pkey primary key (tenant_id, hour, bucket),
    constraint call_hours_bucket_known check (bucket between -1 and 80)
) with (fillfactor = 70);
create index call_hours_age_idx on call_hours (hour);

-- The beginning of the figures that people see, after a reset. The other columns hold what its hour had counted by
-- then, which is subtracted.
create table usage_marks (
    tenant_id    uuid        not null references tenants (id) on delete cascade,
    since        timestamptz not null,
    hour         timestamptz not null,
    ok           integer     not null,
    failed       integer     not null,
    other        integer     not null,
    buckets      smallint[]  not null,
    counts       integer[]   not null,
    syncs_ok     integer     not null,
    syncs_failed integer     not null,
    constraint usage_marks_pkey primary key (tenant_id),
    constraint usage_marks_hour_of_since check (hour <= since and since < hour + interval '1 hour'),
    constraint usage_marks_one_count_a_bucket check (cardinality(buckets) = cardinality(counts))
);

-- The bucket of a latency: four per doubling from 125 µs on. The last one holds everything from 109 s on.
-- connectors.LatencyBucket is the same.
-- +goose StatementBegin
create function latency_bucket(us bigint) returns smallint
    language sql immutable
as $$
    select case when us is null then -1 else least(80, greatest(0, ceil(4 * log(greatest(us, 1) / 125.0::float8) / log(2.0::float8)))) end::smallint
$$;
-- +goose StatementEnd

-- Counts calls in the hour in which they ended. The arrays have one length. A duration, or took_us, is null for
-- bucket -1. Rows are locked in one order, so that concurrent counts do not deadlock.
-- +goose StatementBegin
create function count_calls(tenants uuid[], ended_at timestamptz[], statuses text[], took_us bigint[]) returns bigint
    language plpgsql
as $$
begin
    insert into call_hours (tenant_id, hour, bucket, ok, failed, other)
    select ended.tenant_id, date_trunc('hour', ended.at, 'UTC'), latency_bucket(ended.us),
           count(*) filter (where ended.status = 'success'), count(*) filter (where ended.status = 'error'),
           count(*) filter (where ended.status in ('denied', 'cancelled'))
    from unnest(tenants, ended_at, statuses, took_us) as ended (tenant_id, at, status, us)
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict on constraint call_hours_pkey do update
    set ok = call_hours.ok + excluded.ok,
        failed = call_hours.failed + excluded.failed,
        other = call_hours.other + excluded.other;
    return coalesce(cardinality(tenants), 0);
end $$;
-- +goose StatementEnd

-- Detaches the calls of a deleted agent or connector, and deletes those of a deleted tenant.
-- +goose StatementBegin
create function leave_calls() returns trigger
    language plpgsql
as $$
begin
    case tg_table_name
        when 'agents' then
            update tool_calls set agent_id = null from gone where tool_calls.tenant_id = gone.tenant_id and tool_calls.agent_id = gone.id;
        when 'connectors' then
            update tool_calls set connector_id = null from gone where tool_calls.tenant_id = gone.tenant_id and tool_calls.connector_id = gone.id;
        when 'tenants' then
            delete from tool_calls using gone where tool_calls.tenant_id = gone.id;
    end case;
    return null;
end $$;
-- +goose StatementEnd
create trigger leave_calls after delete on agents referencing old table as gone for each statement execute function leave_calls();
create trigger leave_calls after delete on connectors referencing old table as gone for each statement execute function leave_calls();
create trigger leave_calls after delete on tenants referencing old table as gone for each statement execute function leave_calls();


-- Announcements of changes.

-- Announces a change on the channel patchbay_changes as "kind tenant id". Processes drop what they cached of it.
-- PostgreSQL sends equal notifications of a transaction once.
-- +goose StatementBegin
create function say_change() returns trigger
    language plpgsql
as $$
declare
    row jsonb := to_jsonb(coalesce(new, old));
begin
    perform pg_notify('patchbay_changes', tg_argv[0] || ' ' || (row ->> tg_argv[1]) || ' ' || coalesce(row ->> tg_argv[2], ''));
    return null;
end $$;
-- +goose StatementEnd
create trigger say_tenant_change after update on tenants
    for each row execute function say_change('tenant', 'id', 'id');
create trigger say_agent_change after update or delete on agents
    for each row execute function say_change('agent', 'tenant_id', 'id');
create trigger say_token_change after update of expires_at or delete on agent_tokens
    for each row execute function say_change('token', 'tenant_id', 'id');
create trigger say_grant_change after insert or update or delete on agent_grants
    for each row execute function say_change('agent', 'tenant_id', 'agent_id');
create trigger say_allowance_change after insert or update or delete on tool_allowances
    for each row execute function say_change('agent', 'tenant_id', 'agent_id');
-- A sync updates its connector, which is no change.
create trigger say_connector_change after update on connectors
    for each row when (
        (old.slug, old.name, old.description, old.transport, old.url, old.headers, old.credential_mode, old.auth_type,
          old.auth_header, old.timeout_ms, old.retry_attempts, old.enabled, old.calls_per_minute, old.version, old.items_hash,
          old.server_capabilities, old.server_instructions, old.era, old.command, old.args, old.cwd)
        is distinct from
        (new.slug, new.name, new.description, new.transport, new.url, new.headers, new.credential_mode, new.auth_type,
          new.auth_header, new.timeout_ms, new.retry_attempts, new.enabled, new.calls_per_minute, new.version, new.items_hash,
          new.server_capabilities, new.server_instructions, new.era, new.command, new.args, new.cwd))
    execute function say_change('connector', 'tenant_id', 'id');
create trigger say_instructions_change after update of accepted_instructions on connectors
    for each row when (old.accepted_instructions is distinct from new.accepted_instructions)
    execute function say_change('connector', 'tenant_id', 'id');
create trigger say_connector_end after delete on connectors
    for each row execute function say_change('connector', 'tenant_id', 'id');
create trigger say_credential_change after insert or delete or update of sealed, status, version, origin, type on credentials
    for each row execute function say_change('credential', 'tenant_id', 'connector_id');
create trigger say_account_change after update on account_requests
    for each row when (old.connected_at is null and new.connected_at is not null) execute function say_change('account', 'tenant_id', 'agent_id');
create trigger say_approval_change after insert or update of state on approvals
    for each row execute function say_change('approval', 'tenant_id', 'id');
create trigger say_mail after insert on gateway_mail
    for each row execute function say_change('mail', 'tenant_id', 'box');

-- Announces a changed list once, not once for each tool: a trigger for each row cost more than the row.
-- +goose StatementBegin
create function say_changed_tools() returns trigger
    language plpgsql
as $$
begin
    perform pg_notify('patchbay_changes', 'connector ' || said.tenant_id || ' ' || said.connector_id)
    from (select distinct changed.tenant_id, changed.connector_id from changed) said;
    return null;
end $$;
-- +goose StatementEnd
create trigger say_new_tools after insert on tools
    referencing new table as changed for each statement execute function say_changed_tools();
create trigger say_changed_tools after update on tools
    referencing new table as changed for each statement execute function say_changed_tools();
create trigger say_gone_tools after delete on tools
    referencing old table as changed for each statement execute function say_changed_tools();


-- Notices and webhooks.

-- What people should know, shown below the bell and sent to webhooks. link: a path of the dashboard. subject_key: the
-- same subject again is counted in times while the notice is unread. data: for programs.
create table notices (
    tenant_id   uuid        not null references tenants (id) on delete cascade,
    id          uuid        not null,
    at          timestamptz not null default now(),
    kind        text        not null,
    title       text        not null,
    body        text        not null default '',
    link        text        not null default '',
    subject_key text        not null default '',
    data        jsonb       not null default '{}',
    times       integer     not null default 1,
    constraint notices_pkey primary key (tenant_id, id),
    constraint notices_kind_form check (kind ~ '^[a-z_]+(\.[a-z_]+)+$'),
    constraint notices_link_is_a_path check (link = '' or (link like '/%' and link not like '//%' and link !~ '[\\[:space:]]'))
);
create index notices_subject_idx on notices (tenant_id, subject_key, at desc) where subject_key <> '';
create index notices_age_idx on notices (at);

-- Who has read a notice.
create table notice_reads (
    tenant_id uuid        not null,
    notice_id uuid        not null,
    user_id   uuid        not null,
    read_at   timestamptz not null default now(),
    constraint notice_reads_pkey primary key (tenant_id, notice_id, user_id),
    constraint notice_reads_notice_fkey foreign key (tenant_id, notice_id) references notices (tenant_id, id) on delete cascade,
    constraint notice_reads_member_fkey foreign key (tenant_id, user_id) references memberships (tenant_id, user_id) on delete cascade
);
create index notice_reads_member_idx on notice_reads (tenant_id, user_id);

-- Receivers of notices. kinds: which ones, empty: all. sealed: the signing secrets, the newest first; older ones sign
-- until rotating_until. failures: since the last success. disabled_why: why Patchbay disabled it.
create table webhooks (
    tenant_id      uuid        not null references tenants (id) on delete cascade,
    id             uuid        not null,
    name           text        not null,
    url            text        not null,
    kinds          text[]      not null default '{}',
    sealed         bytea       not null,
    rotating_until timestamptz,
    enabled        boolean     not null default true,
    disabled_why   text        not null default '',
    failures       integer     not null default 0,
    failing_since  timestamptz,
    delivered_at   timestamptz,
    created_at     timestamptz not null default now(),
    updated_at     timestamptz not null default now(),
    constraint webhooks_pkey primary key (tenant_id, id),
    constraint webhooks_name_length check (length(name) between 1 and 100),
    constraint webhooks_url_length check (length(url) between 1 and 2048),
    constraint webhooks_kinds_number check (cardinality(kinds) <= 50),
    constraint webhooks_disabled_why_known check (disabled_why in ('', 'gone', 'failing')),
    constraint webhooks_turned_off check (disabled_why = '' or not enabled),
    constraint webhooks_failing check (failures >= 0 and (failures = 0) = (failing_since is null))
);

-- A notice for one webhook. id: what the receiver sees, the same for each try. next_at: the next try. tries: in
-- total. attempts: since a person last asked for a delivery. status: of HTTP, null: no answer.
create table webhook_deliveries (
    tenant_id   uuid        not null,
    id          uuid        not null,
    webhook_id  uuid        not null,
    notice_id   uuid,
    kind        text        not null,
    body        jsonb       not null,
    state       text        not null default 'waiting',
    attempts    integer     not null default 0,
    tries       integer     not null default 0,
    created_at  timestamptz not null default now(),
    next_at     timestamptz,
    tried_at    timestamptz,
    status      integer,
    error       text        not null default '',
    duration_ms integer,
    constraint webhook_deliveries_pkey primary key (tenant_id, id),
    constraint webhook_deliveries_webhook_fkey foreign key (tenant_id, webhook_id) references webhooks (tenant_id, id) on delete cascade,
    constraint webhook_deliveries_state_known check (state in ('waiting', 'delivered', 'failed', 'cancelled')),
    constraint webhook_deliveries_waiting_has_time check ((state = 'waiting') = (next_at is not null)),
    constraint webhook_deliveries_attempts_range check (attempts >= 0 and tries >= attempts)
);
create index webhook_deliveries_webhook_idx on webhook_deliveries (tenant_id, webhook_id, id desc);
create index webhook_deliveries_waiting_idx on webhook_deliveries (next_at) where state = 'waiting';
create index webhook_deliveries_age_idx on webhook_deliveries (created_at);


-- The audit log and the outcomes of calls.

-- The audit log, in partitions by month. Ids are UUIDv7, so that the key stays (tenant_id, id).
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
) partition by range (id);

-- The partitions. The first one has no beginning. Rows without a partition go into the default one.
create table audit_months (
    name   text        not null,
    starts timestamptz,
    ends   timestamptz not null,
    constraint audit_months_pkey primary key (name),
    constraint audit_months_whole check (starts < ends)
);

-- The links of each tenant's chain. A hash covers the hash before it (32 zero bytes for the first), n and all columns
-- of the entry. internal/store/audit_chain.go computes the same.
create table audit_chain (
    tenant_id uuid   not null references tenants (id) on delete cascade,
    n         bigint not null,
    event_id  uuid   not null,
    hash      bytea  not null,
    constraint audit_chain_pkey primary key (tenant_id, n),
    constraint audit_chain_event_key unique (tenant_id, event_id),
    constraint audit_chain_n_positive check (n > 0),
    constraint audit_chain_hash_length check (length(hash) = 32)
);

-- The end of each chain, so that missing last entries are found. checked_*: the last check of the whole chain; bad:
-- the first wrong place, reason: what is wrong, event: the entry there, last: the last right entry.
create table audit_heads (
    tenant_id      uuid        not null references tenants (id) on delete cascade,
    events         bigint      not null,
    hash           bytea       not null,
    checked_at     timestamptz,
    checked_events bigint,
    checked_bad    bigint,
    checked_reason text,
    checked_event  uuid,
    checked_last   uuid,
    constraint audit_heads_pkey primary key (tenant_id),
    constraint audit_heads_hash_length check (length(hash) = 32)
);

-- How calls ended, append-only: one link for each statement that ends calls (docs/adr/0014-outcomes-of-calls.md).
-- Partitions are those of the audit log. kind: calls ended, ends changed, or old calls removed. body: packed by the
-- triggers below; internal/store/outcome_body.go reads it. hash: SHA-256 over the hash before it and the columns.
create table call_outcomes (
    tenant_id uuid        not null references tenants (id) on delete cascade,
    n         bigint      not null,
    at        timestamptz not null,
    kind      text        not null,
    calls     bigint      not null,
    body      bytea       not null,
    hash      bytea       not null,
    constraint call_outcomes_pkey primary key (tenant_id, n, at),
    constraint call_outcomes_n_positive check (n > 0),
    constraint call_outcomes_kind_known check (kind in ('ended', 'changed', 'removed')),
    constraint call_outcomes_hash_length check (length(hash) = 32)
) partition by range (at);

-- The end of each chain. calls: how many ends it has. at: of the last link. checked_*: as in audit_heads.
create table call_outcome_heads (
    tenant_id      uuid        not null references tenants (id) on delete cascade,
    places         bigint      not null default 0,
    calls          bigint      not null default 0,
    hash           bytea       not null default decode(repeat('00', 32), 'hex'),
    at             timestamptz not null default now(),
    checked_at     timestamptz,
    checked_calls  bigint,
    checked_bad    bigint,
    checked_reason text,
    checked_call   uuid,
    constraint call_outcome_heads_pkey primary key (tenant_id),
    constraint call_outcome_heads_hash_length check (length(hash) = 32)
) with (fillfactor = 50);
-- +goose StatementBegin
do $$
begin
    alter table call_outcomes alter column body set compression lz4;
exception when feature_not_supported then
    null;
end $$;
-- +goose StatementEnd

-- The first UUIDv7 of a time.
-- +goose StatementBegin
create function audit_id_at(at timestamptz) returns uuid
    language sql immutable parallel safe
as $$ select rpad(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid $$;
-- +goose StatementEnd

-- The first partitions end with the next month. audit_make_months makes later ones.
-- +goose StatementBegin
do $$
declare month constant timestamptz := date_trunc('month', now(), 'UTC') + interval '2 months';
begin
    create table audit_events_default partition of audit_events default;
    create table audit_events_first (
        like audit_events including defaults,
        constraint audit_events_first_pkey primary key (tenant_id, id),
        constraint audit_events_first_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade
    );
    execute format('alter table audit_events attach partition audit_events_first for values from (minvalue) to (%L)', audit_id_at(month));
    create table call_outcomes_default partition of call_outcomes default;
    execute format('create table call_outcomes_first partition of call_outcomes for values from (minvalue) to (%L)', month);
    insert into audit_months (name, ends) values ('audit_events_first', month);
end $$;
-- +goose StatementEnd

-- Makes the partitions of this month and the next three, and moves rows of the default partition to them. Moved rows
-- get no second link: a table has no trigger before it is a partition. It has the rights of the owner. If the log is
-- busy for two seconds it fails and is called again; entries go into the default partition until then.
-- +goose StatementBegin
create function audit_make_months() returns integer
    language plpgsql security definer
as $$
declare
    month timestamptz;
    part  text;
    calls text;
    made  int  := 0;
    scope text := current_setting('app.system', true);
begin
    perform set_config('app.system', 'on', true);
    perform pg_advisory_xact_lock(hashtextextended('patchbay audit months', 0));
    loop
        select max(ends) into month from audit_months;
        exit when month > date_trunc('month', now(), 'UTC') + interval '3 months';
        part := 'audit_events_' || to_char(month at time zone 'UTC', 'YYYY_MM');
        calls := replace(part, 'audit_events', 'call_outcomes');
        execute format('create table %I (like audit_events including defaults including constraints including indexes)', part);
        execute format('create table %I (like call_outcomes including defaults including constraints including indexes including compression)', calls);
        execute format('alter table %I enable row level security', part);
        execute format('alter table %I force row level security', part);
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
            with check (tenant_id = (select tenant()) or (select system_scope()))', part);
        execute format('alter table %I enable row level security', calls);
        execute format('alter table %I force row level security', calls);
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
            with check (tenant_id = (select tenant()) or (select system_scope()))', calls);
        execute format('with here as (delete from audit_events_default where id >= %1$L and id < %2$L returning *) insert into %3$I select * from here',
            audit_id_at(month), audit_id_at(month + interval '1 month'), part);
        execute format('with here as (delete from call_outcomes_default where at >= %1$L and at < %2$L returning *) insert into %3$I select * from here',
            month, month + interval '1 month', calls);
        execute format('alter table audit_events attach partition %I for values from (%L) to (%L)',
            part, audit_id_at(month), audit_id_at(month + interval '1 month'));
        execute format('alter table call_outcomes attach partition %I for values from (%L) to (%L)', calls, month, month + interval '1 month');
        insert into audit_months (name, starts, ends) values (part, month, month + interval '1 month');
        made := made + 1;
    end loop;
    perform set_config('app.system', coalesce(scope, ''), true);
    return made;
end $$;
-- +goose StatementEnd

-- A column in the hashed bytes: its length and itself, null: -1.
-- +goose StatementBegin
create function audit_field(value text) returns bytea
    language sql immutable parallel safe
as $$ select case when value is null then int4send(-1) else int4send(octet_length(convert_to(value, 'UTF8'))) || convert_to(value, 'UTF8') end $$;
-- +goose StatementEnd

-- The hash of a link.
-- +goose StatementBegin
create function audit_hash(before bytea, n bigint, e audit_events) returns bytea
    language sql immutable parallel safe
as $$ select sha256(before || int8send(n) || uuid_send(e.tenant_id) || uuid_send(e.id) || int8send((extract(epoch from e.at) * 1000000)::bigint)
        || audit_field(e.actor_type) || audit_field(e.actor_id::text) || audit_field(e.actor_name) || audit_field(e.action) || audit_field(e.target)
        || audit_field(e.detail::text) || audit_field(e.request_id) || audit_field(e.ip)) $$;
-- +goose StatementEnd

-- Adds a link. The lock of the head orders the links of a tenant until the transaction ends.
-- +goose StatementBegin
create function audit_link(e audit_events) returns void
    language plpgsql
as $$
    declare
        head audit_heads;
        next bytea;
    begin
        insert into audit_heads (tenant_id, events, hash) values (e.tenant_id, 0, decode(repeat('00', 32), 'hex')) on conflict do nothing;
        select * into head from audit_heads where tenant_id = e.tenant_id for update;
        next := audit_hash(head.hash, head.events + 1, e);
        insert into audit_chain (tenant_id, n, event_id, hash) values (e.tenant_id, head.events + 1, e.id, next);
        update audit_heads set events = head.events + 1, hash = next where tenant_id = e.tenant_id;
    end $$;
-- +goose StatementEnd

-- Links a new entry, with the rights of the owner: the runtime role writes no link.
-- +goose StatementBegin
create function audit_append() returns trigger
    language plpgsql security definer
as $$
    declare
        e audit_events;
    begin
        if exists (select from tenants where id = new.tenant_id) then -- not deleted by the same transaction
            e := new; -- of whichever part
            perform audit_link(e);
        end if;
        return null;
    end $$;
-- +goose StatementEnd
-- It runs at the end of the transaction, which takes no other lock then, so that waiting for the head cannot
-- deadlock. If a link cannot be written, the transaction fails.
create constraint trigger audit_chained after insert on audit_events
    deferrable initially deferred for each row execute function audit_append();

-- Gives a tenant its head at once: two transactions that end its first calls wait for each other there.
-- +goose StatementBegin
create function begin_outcomes() returns trigger
    language plpgsql security definer
as $$
declare
    scope text := current_setting('app.system', true);
begin
    perform set_config('app.system', 'on', true);
    insert into call_outcome_heads (tenant_id) values (new.id);
    perform set_config('app.system', coalesce(scope, ''), true);
    return null;
end $$;
-- +goose StatementEnd
create trigger begin_outcomes after insert on tenants for each row execute function begin_outcomes();

-- The hash of a link of outcomes.
-- +goose StatementBegin
create function outcome_hash(before bytea, n bigint, tenant uuid, at timestamptz, kind text, calls bigint, body bytea) returns bytea
    language sql immutable parallel safe
as $$ select sha256(before || int8send(n) || uuid_send(tenant) || int8send((extract(epoch from at) * 1000000)::bigint)
    || audit_field(kind) || int8send(calls) || body) $$;
-- +goose StatementEnd

-- Adds a link to the chain of each tenant. Heads are locked in one order, as the last locks of a statement. It sets
-- the system scope itself: row-level security holds for the owner, and a statement could have changed the scope of
-- the session.
-- +goose StatementBegin
create function link_outcomes(what text, tenants uuid[], counts bigint[], bodies bytea[]) returns void
    language plpgsql
as $$
declare
    scope   text := current_setting('app.system', true);
    written bigint;
begin
    perform set_config('app.system', 'on', true);
    with heads as materialized (
        select h.tenant_id, h.places, h.hash, greatest(h.at, clock_timestamp()) as at
        from call_outcome_heads h
        where h.tenant_id = any(tenants)
        order by h.tenant_id
        for no key update
    ), links as materialized (
        select heads.tenant_id, heads.places + 1 as n, heads.at, new.calls, new.body,
               outcome_hash(heads.hash, heads.places + 1, heads.tenant_id, heads.at, what, new.calls, new.body) as hash
        from unnest(tenants, counts, bodies) as new (tenant_id, calls, body)
        join heads on heads.tenant_id = new.tenant_id
    ), moved as (
        update call_outcome_heads h
        set places = links.n,
            calls = h.calls + case when what = 'ended' then links.calls else 0 end,
            hash = links.hash,
            at = links.at
        from links
        where h.tenant_id = links.tenant_id
    )
    insert into call_outcomes (tenant_id, n, at, kind, calls, body, hash)
    select links.tenant_id, links.n, links.at, what, links.calls, links.body, links.hash
    from links;
    get diagnostics written = row_count;
    perform set_config('app.system', coalesce(scope, ''), true);
    if written <> cardinality(tenants) then
        raise exception 'how calls of % tenants ended is on record of %', cardinality(tenants), written;
    end if;
end $$;
-- +goose StatementEnd

-- Links calls that a statement inserts as ended. A body has 24 columns, each as PostgreSQL sends an array.
-- +goose StatementBegin
create function note_calls() returns trigger
    language plpgsql security definer
as $$
        begin
            perform link_outcomes('ended', array_agg(those.tenant_id), array_agg(those.calls), array_agg(those.body))
            from (
                select c.tenant_id, count(*) as calls, (
        (array_send(array_agg(c.id)) || array_send(array_agg(c.agent_id)) || array_send(array_agg(c.agent_slug)) || array_send(array_agg(c.connector_id)))
        || (array_send(array_agg(c.connector_slug)) || array_send(array_agg(c.kind)) || array_send(array_agg(c.tool)) || array_send(array_agg(c.source)))
        || ((array_send(array_agg(c.caller)) || array_send(array_agg(c.token_id)) || array_send(array_agg(c.credential_id)) || array_send(array_agg(c.definition_hash)))
        || (array_send(array_agg(c.status)) || array_send(array_agg(c.outcome)) || array_send(array_agg(c.error_code)) || array_send(array_agg(c.is_error))))
        || ((array_send(array_agg(c.approved_by)) || array_send(array_agg(c.request_bytes)) || array_send(array_agg(c.response_bytes)))
        || (array_send(array_agg(c.started_at)) || array_send(array_agg(c.completed_at)) || array_send(array_agg(c.duration_us))))
        || (array_send(array_agg(c.address)) || array_send(array_agg(c.request_id)))) as body
                from new_calls c
                where c.completed_at is not null
                group by c.tenant_id
            ) those
            having count(*) > 0;
            return null;
        end $$;
-- +goose StatementEnd

-- Links calls that a statement ends, and changes of calls that had ended. A call that gets another id counts as
-- ended.
-- +goose StatementBegin
create function note_changed_calls() returns trigger
    language plpgsql security definer
as $$
        begin
            if not exists (select from new_calls where completed_at is not null) then
                return null;
            end if;
            perform link_outcomes('ended', array_agg(those.tenant_id), array_agg(those.calls), array_agg(those.body))
            from (
                select c.tenant_id, count(*) as calls, (
        (array_send(array_agg(c.id)) || array_send(array_agg(c.agent_id)) || array_send(array_agg(c.agent_slug)) || array_send(array_agg(c.connector_id)))
        || (array_send(array_agg(c.connector_slug)) || array_send(array_agg(c.kind)) || array_send(array_agg(c.tool)) || array_send(array_agg(c.source)))
        || ((array_send(array_agg(c.caller)) || array_send(array_agg(c.token_id)) || array_send(array_agg(c.credential_id)) || array_send(array_agg(c.definition_hash)))
        || (array_send(array_agg(c.status)) || array_send(array_agg(c.outcome)) || array_send(array_agg(c.error_code)) || array_send(array_agg(c.is_error))))
        || ((array_send(array_agg(c.approved_by)) || array_send(array_agg(c.request_bytes)) || array_send(array_agg(c.response_bytes)))
        || (array_send(array_agg(c.started_at)) || array_send(array_agg(c.completed_at)) || array_send(array_agg(c.duration_us))))
        || (array_send(array_agg(c.address)) || array_send(array_agg(c.request_id)))) as body
                from new_calls c
                left join old_calls o on o.tenant_id = c.tenant_id and o.id = c.id
                where c.completed_at is not null and o.completed_at is null
                group by c.tenant_id
            ) those
            having count(*) > 0;
            -- What another trigger changes is an agent or a connector that goes, whose calls stay what they were.
            if pg_trigger_depth() > 1 then
                return null;
            end if;
            perform link_outcomes('changed', array_agg(those.tenant_id), array_agg(those.calls), array_agg(those.body))
            from (
                select c.tenant_id, count(*) as calls, (
        (array_send(array_agg(c.id)) || array_send(array_agg(c.agent_id)) || array_send(array_agg(c.agent_slug)) || array_send(array_agg(c.connector_id)))
        || (array_send(array_agg(c.connector_slug)) || array_send(array_agg(c.kind)) || array_send(array_agg(c.tool)) || array_send(array_agg(c.source)))
        || ((array_send(array_agg(c.caller)) || array_send(array_agg(c.token_id)) || array_send(array_agg(c.credential_id)) || array_send(array_agg(c.definition_hash)))
        || (array_send(array_agg(c.status)) || array_send(array_agg(c.outcome)) || array_send(array_agg(c.error_code)) || array_send(array_agg(c.is_error))))
        || ((array_send(array_agg(c.approved_by)) || array_send(array_agg(c.request_bytes)) || array_send(array_agg(c.response_bytes)))
        || (array_send(array_agg(c.started_at)) || array_send(array_agg(c.completed_at)) || array_send(array_agg(c.duration_us))))
        || (array_send(array_agg(c.address)) || array_send(array_agg(c.request_id)))) as body
                from new_calls c
                join old_calls o on o.tenant_id = c.tenant_id and o.id = c.id
                where o.completed_at is not null
                  and (c.agent_id, c.agent_slug, c.connector_id, c.connector_slug, c.kind, c.tool, c.source, c.caller, c.token_id, c.credential_id,
                       c.definition_hash, c.status, c.outcome, c.error_code, c.is_error, c.approved_by, c.request_bytes, c.response_bytes,
                       c.started_at, c.completed_at, c.duration_us, c.address, c.request_id)
                      is distinct from
                      (o.agent_id, o.agent_slug, o.connector_id, o.connector_slug, o.kind, o.tool, o.source, o.caller, o.token_id, o.credential_id,
                       o.definition_hash, o.status, o.outcome, o.error_code, o.is_error, o.approved_by, o.request_bytes, o.response_bytes,
                       o.started_at, o.completed_at, o.duration_us, o.address, o.request_id)
                group by c.tenant_id
            ) those
            having count(*) > 0;
            return null;
        end $$;
-- +goose StatementEnd

-- Links the removal of old calls, up to an id. The history of a tenant is at least 30 days; an hour is for clocks.
-- Calls that are removed earlier are not linked, and a check misses them.
-- +goose StatementBegin
create function note_removed_calls() returns trigger
    language plpgsql security definer
as $$
begin
    if pg_trigger_depth() > 1 then -- the tenant goes
        return null;
    end if;
    perform link_outcomes('removed', array_agg(those.tenant_id), array_agg(those.calls), array_agg(those.body))
    from (
        select c.tenant_id, count(*) as calls, uuid_send(max(c.id::text collate "C")::uuid) as body
        from old_calls c
        where c.id < audit_id_at(now() - interval '30 days' + interval '1 hour')
        group by c.tenant_id
    ) those
    having count(*) > 0;
    return null;
end $$;
-- +goose StatementEnd
create trigger note_calls after insert on tool_calls referencing new table as new_calls for each statement execute function note_calls();
create trigger note_changed_calls after update on tool_calls referencing old table as old_calls new table as new_calls
    for each statement execute function note_changed_calls();
create trigger note_removed_calls after delete on tool_calls referencing old table as old_calls for each statement execute function note_removed_calls();

-- Functions with the rights of the owner use the tables of this schema, whatever the session's search_path is.
-- Texts are recorded in one encoding. Batches are joined by hash: a plan is cached from whichever batch came first.
-- +goose StatementBegin
do $$
declare f text;
begin
    foreach f in array array['audit_append()', 'audit_make_months()', 'begin_outcomes()', 'note_calls()', 'note_changed_calls()', 'note_removed_calls()'] loop
        execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
        execute format('revoke all on function %s from public', f);
    end loop;
end $$;
-- +goose StatementEnd
alter function audit_make_months() set lock_timeout = '2s';
alter function audit_make_months() set timezone = 'UTC';
alter function note_calls() set client_encoding = 'UTF8';
alter function note_changed_calls() set enable_nestloop = off;
alter function note_changed_calls() set client_encoding = 'UTF8';
revoke all on function audit_link(audit_events), link_outcomes(text, uuid[], bigint[], bytea[]) from public;
grant execute on function audit_make_months() to patchbay_app;


-- Keys that seal and authenticate the rows above.
create trigger recognised_by_a_living_key before insert or update of secret_mac on agent_tokens
    for each row execute function refuse_retired_mac();
create trigger recognised_by_a_living_key before insert or update of secret_mac on member_tokens
    for each row execute function refuse_retired_mac();
create trigger sealed_by_a_living_key before insert or update of sealed on sso_settings
    for each row when (new.sealed is not null) execute function refuse_retired_key();
-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array[
        'credentials', 'client_registrations', 'oauth_flows', 'connector_clients', 'connector_envs',
        'account_revocations', 'revocation_clients', 'approvals', 'approval_results', 'gateway_mail', 'webhooks'] loop
        execute format('create trigger sealed_by_a_living_key before insert or update of sealed on %I
            for each row execute function refuse_retired_key()', t);
    end loop;
end $$;
-- +goose StatementEnd


-- Row-level security. A policy calls its functions in subqueries, so that they run once for a statement and not for
-- each row.

-- Tables of a tenant, which is all that it sees.
-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array[
        'memberships', 'invitations', 'api_keys', 'sso_settings', 'sso_groups', 'sso_domains', 'sso_identities',
        'sso_flows', 'agents', 'connectors', 'connector_clients', 'connector_envs', 'credentials',
        'client_registrations', 'oauth_flows', 'connect_links', 'account_requests', 'account_revocations',
        'revocation_clients', 'tool_definitions', 'tools', 'quarantined_tools', 'connector_items',
        'tool_changes', 'sync_runs', 'sync_run_requests', 'connector_clock', 'connector_health', 'sync_hours',
        'upstream_listeners', 'agent_clients', 'agent_tokens', 'member_tokens', 'personal_agents',
        'agent_grants', 'tool_calls', 'approvals', 'approval_results', 'tool_allowances', 'spent_confirmations',
        'gateway_mail', 'call_hours', 'usage_marks', 'notices', 'notice_reads', 'webhooks', 'webhook_deliveries',
        'audit_events', 'audit_events_default', 'audit_events_first', 'audit_chain', 'audit_heads',
        'call_outcomes', 'call_outcomes_default', 'call_outcomes_first', 'call_outcome_heads'] loop
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
            with check (tenant_id = (select tenant()) or (select system_scope()))', t);
    end loop;
end $$;
-- +goose StatementEnd
create policy tenant_rows on tenants using (id = (select tenant()) or (select system_scope()))
    with check (id = (select tenant()) or (select system_scope()));
create policy tenant_rows on quota_days using (tenant_id = tenant() or system_scope()) with check (tenant_id = tenant() or system_scope());

-- Tables of no tenant, which only the system sees.
-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array[
        'sessions', 'sign_in_failures', 'setup_links', 'keysets', 'kms_keys', 'mcp_clients', 'user_passwords'] loop
        execute format('create policy system_rows on %I using ((select system_scope())) with check ((select system_scope()))', t);
    end loop;
end $$;
-- +goose StatementEnd

-- A tenant sees its members and the accounts that it issued, and changes only these.
create policy member_reads on users for select
    using ((select system_scope()) or issued_by = (select tenant()) or exists (select from memberships where memberships.user_id = users.id));
create policy issuer_adds on users for insert with check ((select system_scope()) or issued_by = (select tenant()));
create policy issuer_changes on users for update
    using ((select system_scope()) or issued_by = (select tenant()))
    with check ((select system_scope()) or issued_by = (select tenant()));
create policy issuer_removes on users for delete using ((select system_scope()) or issued_by = (select tenant()));
create policy issuer_adds on user_passwords for insert
    with check (exists (select from users where users.id = user_passwords.user_id and users.issued_by = (select tenant())));

-- A tenant sees the browsers of its members, and whether they have a second factor.
create policy member_rows on browser_sessions
    using ((select system_scope()) or user_id in (select memberships.user_id from memberships))
    with check ((select system_scope()));
-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['second_factors', 'recovery_codes'] loop
        execute format('create policy member_reads on %I for select
            using ((select system_scope()) or user_id in (select memberships.user_id from memberships))', t);
        execute format('create policy system_adds on %I for insert with check ((select system_scope()))', t);
        execute format('create policy system_changes on %I for update using ((select system_scope())) with check ((select system_scope()))', t);
        execute format('create policy system_removes on %I for delete using ((select system_scope()))', t);
    end loop;
end $$;
-- +goose StatementEnd

-- A tenant adds its first key. Only the system changes keys and retires them.
create policy tenant_reads on tenant_keys for select using (tenant_id = (select tenant()) or (select system_scope()));
create policy tenant_adds on tenant_keys for insert with check (tenant_id = (select tenant()) or (select system_scope()));
create policy system_changes on tenant_keys for update using ((select system_scope())) with check ((select system_scope()));
create policy tenant_reads on retired_tenant_keys for select using (tenant_id = (select tenant()) or (select system_scope()));
create policy system_adds on retired_tenant_keys for insert with check ((select system_scope()));
create policy everybody_reads on retired_keys for select using (true);
create policy system_adds on retired_keys for insert with check (system_scope());
create policy everybody_reads on retired_mac_keys for select using (true);
create policy system_adds on retired_mac_keys for insert with check ((select system_scope()));

-- Every table that has a policy.
-- +goose StatementBegin
do $$
declare t regclass;
begin
    for t in select distinct p.polrelid::regclass from pg_policy p join pg_class c on c.oid = p.polrelid
             where c.relnamespace = current_schema()::regnamespace loop
        execute format('alter table %s enable row level security', t);
        execute format('alter table %s force row level security', t);
    end loop;
end $$;
-- +goose StatementEnd

-- Rights of the runtime role. It adds to the audit log, and only reads the chains.
grant select, insert, update, delete on
    tenants, users, user_passwords, memberships, invitations, api_keys, sso_settings, sso_groups, sso_domains,
    sso_identities, sso_flows, agents, connectors, connector_clients, connector_envs, credentials,
    client_registrations, oauth_flows, connect_links, account_requests, account_revocations, revocation_clients,
    tool_definitions, tools, quarantined_tools, connector_items, tool_changes, sync_runs, sync_run_requests,
    connector_clock, connector_health, sync_hours, upstream_listeners, agent_clients, agent_tokens,
    member_tokens, personal_agents, agent_grants, tool_calls, approvals, approval_results, tool_allowances,
    spent_confirmations, gateway_mail, call_hours, usage_marks, notices, notice_reads, webhooks,
    webhook_deliveries, sessions, sign_in_failures, setup_links, keysets, mcp_clients, browser_sessions,
    second_factors, recovery_codes, instances, quota_days
    to patchbay_app;
grant select, update on clock_turn to patchbay_app;
grant select, insert, delete on kms_keys to patchbay_app;
grant select, insert, update on tenant_keys to patchbay_app;
grant select, insert on retired_keys, retired_mac_keys, retired_tenant_keys, audit_events to patchbay_app;
grant select on audit_months, audit_chain, audit_heads, call_outcomes, call_outcome_heads to patchbay_app;
grant update (checked_at, checked_events, checked_bad, checked_reason, checked_event, checked_last) on audit_heads to patchbay_app;
grant update (checked_at, checked_calls, checked_bad, checked_reason, checked_call) on call_outcome_heads to patchbay_app;

-- +goose Down
drop table
    audit_events, call_outcomes, user_passwords, revocation_clients, account_revocations, usage_marks,
    spent_confirmations, member_tokens, account_requests, quota_days, call_outcome_heads, personal_agents,
    agent_clients, mcp_clients, retired_mac_keys, kms_keys, recovery_codes, second_factors, audit_months,
    retired_tenant_keys, tenant_keys, sso_flows, sso_identities, sso_domains, sso_groups, sso_settings,
    browser_sessions, audit_heads, audit_chain, invitations, sync_hours, call_hours, sync_run_requests,
    webhook_deliveries, webhooks, notice_reads, notices, upstream_listeners, tool_changes, clock_turn,
    connector_health, connector_clock, gateway_mail, tool_allowances, approval_results, approvals, tool_calls,
    connector_items, agent_grants, agent_tokens, connector_envs, retired_keys, connector_clients, connect_links,
    oauth_flows, client_registrations, sync_runs, quarantined_tools, tools, tool_definitions, credentials,
    connectors, agents, instances, keysets, setup_links, sign_in_failures, sessions, api_keys, memberships,
    users, tenants
    cascade;
drop function
    audit_append, audit_field, audit_id_at, audit_make_months, begin_outcomes, check_membership, count_calls,
    delete_credentials_of_connector, has_password, hide_password_hashes, keep_both_copies, keep_hour,
    latency_bucket, leave_calls, leave_definitions, link_outcomes, next_due, note_calls, note_changed_calls,
    note_removed_calls, outcome_hash, queue_revocation, refuse_retired_installation_key, refuse_retired_key,
    refuse_retired_mac, refuse_retiring_wrapping_key, resume_clock, say_change, say_changed_tools, set_clock,
    show_password_hashes, store_password_hash, system_scope, tell_of_deleted_keys, tenant;
