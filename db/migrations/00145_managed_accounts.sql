-- +goose Up

-- Whether members' accounts at MCP servers come from their sign-in at the provider (enterprise-managed authorization).
alter table sso_settings add column managed_accounts boolean not null default false;

-- What a member's last sign-in left for exchanges at the provider, sealed: an ID token and, if the provider gave one, a refresh token.
create table sso_tokens (
    tenant_id    uuid not null,
    user_id      uuid not null,
    issuer       text not null,
    sealed       bytea not null,
    signed_in_at timestamptz not null default now(),
    constraint sso_tokens_pkey primary key (tenant_id, user_id),
    constraint sso_tokens_member_fkey foreign key (tenant_id, user_id) references memberships (tenant_id, user_id) on delete cascade,
    constraint sso_tokens_issuer_length check (length(issuer) between 1 and 2048)
);
create trigger sealed_by_a_living_key before insert or update of sealed on sso_tokens
    for each row execute function refuse_retired_key();
create policy tenant_rows on sso_tokens using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table sso_tokens enable row level security;
alter table sso_tokens force row level security;
grant select, insert, update, delete on sso_tokens to patchbay_app;

-- The member of whom a sign-in at the provider gives an account its tokens. It ends with the membership.
alter table credentials add column member_id uuid;
alter table credentials add constraint credentials_member_fkey
    foreign key (tenant_id, member_id) references memberships (tenant_id, user_id) on delete cascade not valid;
alter table credentials add constraint credentials_managed_per_agent check (member_id is null or agent_id is not null and type = 'oauth2') not valid;
create index credentials_member_idx on credentials (tenant_id, member_id) where member_id is not null;

-- +goose Down
alter table credentials drop column member_id;
drop table sso_tokens;
alter table sso_settings drop column managed_accounts;
