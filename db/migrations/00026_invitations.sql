-- +goose Up

-- Who is asked to become a member. Whoever brings the link's token joins, under this address alone and once; only a hash of it is stored.
-- sent_at, sends: when its present link was made, and how many there were. invited_by: a person; null: a key, or the command line.
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
    constraint invitations_role_known check (role in ('viewer', 'member', 'admin', 'owner')),
    constraint invitations_one_end check (accepted_at is null or revoked_at is null),
    constraint invitations_sends_positive check (sends > 0)
);
-- An address is asked once at a time.
create unique index invitations_open_key on invitations (tenant_id, email) where accepted_at is null and revoked_at is null;

alter table invitations enable row level security;
alter table invitations force row level security;
create policy tenant_rows on invitations using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
grant select, insert, update, delete on invitations to patchbay_app;

-- seen_at: when the person last used this tenant's dashboard, within a few minutes.
alter table memberships add column seen_at timestamptz;

-- created_by_name: who made the key, as they were called then; empty: it is older than this column.
alter table api_keys add column created_by_name text not null default '';

-- What new agents and connectors begin with. The defaults are those of the program.
alter table tenants
    add column default_approval             text    not null default 'always_ask',
    add column default_tool_changes         text    not null default 'hold_risky',
    add column default_max_definition_age_s integer not null default 900,
    add column default_sync_interval_s      integer not null default 900,
    add constraint tenants_default_approval_known check (default_approval in ('auto', 'always_ask', 'trusted_only')),
    add constraint tenants_default_tool_changes_known check (default_tool_changes in ('auto', 'hold_risky', 'hold_all')),
    add constraint tenants_default_definition_age_bounds check (
        default_max_definition_age_s = 0 or default_max_definition_age_s between 60 and 86400),
    add constraint tenants_default_sync_interval_range check (default_sync_interval_s = 0 or default_sync_interval_s >= 60);

-- When each sealing key was made, by how everything begins that it seals. A key without a row is as old as the keyset's last change, or older.
create table sealing_keys (
    prefix  bytea       not null,
    made_at timestamptz not null default now(),
    constraint sealing_keys_pkey primary key (prefix),
    constraint sealing_keys_prefix_length check (length(prefix) = 5)
);
alter table sealing_keys enable row level security;
alter table sealing_keys force row level security;
create policy system_rows on sealing_keys using ((select system_scope())) with check ((select system_scope()));
grant select, insert, delete on sealing_keys to patchbay_app;

-- +goose Down
drop table sealing_keys;
alter table tenants
    drop column default_approval,
    drop column default_tool_changes,
    drop column default_max_definition_age_s,
    drop column default_sync_interval_s;
alter table api_keys drop column created_by_name;
alter table memberships drop column seen_at;
drop table invitations;
