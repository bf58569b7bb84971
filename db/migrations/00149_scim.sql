-- +goose Up

-- The SCIM address of a tenant, by which its identity provider manages members (RFC 7644).
create table scim_settings (
    tenant_id       uuid not null,
    id              uuid not null, -- of the token
    prefix          text not null,
    secret_mac      bytea not null,
    created_at      timestamptz not null default now(),
    rotated_at      timestamptz,
    last_request_at timestamptz,
    constraint scim_settings_pkey primary key (tenant_id),
    constraint scim_settings_id_key unique (id),
    constraint scim_settings_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade
);
create trigger recognised_by_a_living_key before insert or update of secret_mac on scim_settings for each row execute function refuse_retired_mac();
create policy tenant_rows on scim_settings using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table scim_settings enable row level security;
alter table scim_settings force row level security;
grant select, insert, update, delete on scim_settings to patchbay_app;

-- People as the provider sent them. attributes holds the resource without what has a column; user_id: the member, null without a role.
create table scim_users (
    tenant_id   uuid not null,
    id          uuid not null,
    user_name   text not null,
    external_id text,
    email       text not null,
    active      boolean not null,
    user_id     uuid,
    attributes  jsonb not null,
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now(),
    constraint scim_users_pkey primary key (tenant_id, id),
    constraint scim_users_tenant_id_fkey foreign key (tenant_id) references scim_settings (tenant_id) on delete cascade,
    constraint scim_users_member_fkey foreign key (tenant_id, user_id) references memberships (tenant_id, user_id) on delete set null (user_id),
    constraint scim_users_member_key unique (tenant_id, user_id),
    constraint scim_users_member_active check (active or user_id is null),
    constraint scim_users_lengths check (length(user_name) between 1 and 320 and length(external_id) between 1 and 320
        and length(email) between 3 and 254 and octet_length(attributes::text) <= 65536)
);
create unique index scim_users_user_name_key on scim_users (tenant_id, lower(user_name));
create unique index scim_users_email_key on scim_users (tenant_id, email) where active;
create index scim_users_email_idx on scim_users (tenant_id, email);
create index scim_users_external_id_idx on scim_users (tenant_id, external_id) where external_id is not null;
create policy tenant_rows on scim_users using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table scim_users enable row level security;
alter table scim_users force row level security;
grant select, insert, update, delete on scim_users to patchbay_app;

create table scim_groups (
    tenant_id    uuid not null,
    id           uuid not null,
    display_name text not null,
    external_id  text,
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    constraint scim_groups_pkey primary key (tenant_id, id),
    constraint scim_groups_tenant_id_fkey foreign key (tenant_id) references scim_settings (tenant_id) on delete cascade,
    constraint scim_groups_lengths check (length(display_name) between 1 and 320 and length(external_id) between 1 and 320)
);
create unique index scim_groups_display_name_key on scim_groups (tenant_id, lower(display_name));
create index scim_groups_external_id_idx on scim_groups (tenant_id, external_id) where external_id is not null;
create policy tenant_rows on scim_groups using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table scim_groups enable row level security;
alter table scim_groups force row level security;
grant select, insert, update, delete on scim_groups to patchbay_app;

create table scim_group_members (
    tenant_id    uuid not null,
    group_id     uuid not null,
    scim_user_id uuid not null,
    constraint scim_group_members_pkey primary key (tenant_id, group_id, scim_user_id),
    constraint scim_group_members_group_fkey foreign key (tenant_id, group_id) references scim_groups (tenant_id, id) on delete cascade,
    constraint scim_group_members_user_fkey foreign key (tenant_id, scim_user_id) references scim_users (tenant_id, id) on delete cascade
);
create index scim_group_members_user_idx on scim_group_members (tenant_id, scim_user_id);
create policy tenant_rows on scim_group_members using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table scim_group_members enable row level security;
alter table scim_group_members force row level security;
grant select, insert, update, delete on scim_group_members to patchbay_app;

-- +goose Down
drop table scim_group_members;
drop table scim_groups;
drop table scim_users;
drop table scim_settings;
