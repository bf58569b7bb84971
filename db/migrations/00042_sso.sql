-- +goose Up

-- How a tenant's people sign in at the tenant's own OpenID provider. One row a tenant; none: it was never set up.
-- sealed: the client's secret, for this issuer alone. joins: whoever signs in and is no member becomes one. default_role: of whoever is
-- in no group that gives one; null: such a person has no access. enforced: passwords open this tenant no more, but for break_glass.
-- tested_at: when an owner last signed in with these settings to try them; null: not since they changed.
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

-- Which role a group of the provider gives.
create table sso_groups (
    tenant_id  uuid not null references tenants (id) on delete cascade,
    group_name text not null,
    role       text not null,
    constraint sso_groups_pkey primary key (tenant_id, group_name),
    constraint sso_groups_name_length check (length(group_name) between 1 and 200),
    constraint sso_groups_role_known check (role in ('viewer', 'member', 'admin', 'owner'))
);

-- The e-mail domains that a tenant says are its own. A claim opens nothing until it is verified, and verified it is one tenant's: what is
-- only claimed keeps nobody from proving that the domain is theirs. proof: what the domain's TXT record says.
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

-- Who a provider's subject is here. The subject is what a provider never gives to somebody else; an address it may. It ends with the
-- membership.
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

-- Sign-ins that are on their way, for ten minutes and once. browser: a hash of what the browser's cookie holds, from which state, nonce
-- and verifier are made: what is stored here finishes nobody's sign-in. tester: the owner who only tries it.
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
    constraint sso_flows_pkey primary key (tenant_id, id),
    constraint sso_flows_browser_length check (length(browser) = 32),
    constraint sso_flows_return_to_length check (length(return_to) <= 2048)
);
create index sso_flows_expires_idx on sso_flows (tenant_id, expires_at);

create trigger sealed_by_a_living_key before insert or update of sealed on sso_settings
    for each row when (new.sealed is not null) execute function refuse_retired_key();

-- sso_only: the membership came of a sign-in at the tenant's provider, and opens by that alone. The account may be older, and its
-- password may be known to an owner elsewhere.
alter table memberships add column sso_only boolean not null default false;

-- The tenant at whose provider somebody signed in, whose session ends with that; null: by a password.
alter table browser_sessions add column sso_tenant_id uuid references tenants (id) on delete cascade;
create index browser_sessions_sso_idx on browser_sessions (sso_tenant_id) where sso_tenant_id is not null;

-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['sso_settings', 'sso_groups', 'sso_domains', 'sso_identities', 'sso_flows'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
            with check (tenant_id = (select tenant()) or (select system_scope()))', t);
        execute format('grant select, insert, update, delete on %I to patchbay_app', t);
    end loop;
end $$;
-- +goose StatementEnd

-- +goose Down
alter table browser_sessions drop column sso_tenant_id;
alter table memberships drop column sso_only;
drop table sso_flows;
drop table sso_identities;
drop table sso_domains;
drop table sso_groups;
drop table sso_settings;
