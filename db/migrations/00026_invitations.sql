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

-- +goose Down
alter table api_keys drop column created_by_name;
alter table memberships drop column seen_at;
drop table invitations;
