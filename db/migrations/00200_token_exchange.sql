-- +goose Up

-- An owner lets authorization servers learn of members and agents.
alter table tenants add column token_exchange boolean not null default false;

-- Connectors whose account a person has disconnected, of an agent without a member: token exchange adds none again.
alter table agents add column disconnected uuid[] not null default '{}';

-- The address that the provider confirmed at the last sign-in; empty: an older release recorded it.
alter table sso_identities add column email text not null default '';

-- Processes that know token exchange. It is not turned on while one runs that does not.
alter table instances add column token_exchange boolean not null default false;

-- Keys that sign what a tenant says of its members and agents to authorization servers (RFC 8693). The public part is published.
create table signing_keys (
    tenant_id  uuid not null,
    id         uuid not null,
    sealed     bytea not null,
    created_at timestamptz not null default now(),
    constraint signing_keys_pkey primary key (tenant_id, id),
    constraint signing_keys_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade
);
create trigger sealed_by_a_living_key before insert or update of sealed on signing_keys
    for each row execute function refuse_retired_key();
create policy tenant_rows on signing_keys using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table signing_keys enable row level security;
alter table signing_keys force row level security;
grant select, insert, update, delete on signing_keys to patchbay_app;

-- A token from token exchange is revoked when a person connects an account in its place.
create or replace trigger queue_revocation_of_replaced before update on credentials
    for each row when (
        old.type = 'oauth2' and old.status <> 'revoked' and (
            new.type <> 'oauth2'
            or new.id <> old.id and old.grant_meta #>> '{identity,subject}' is not null
            or new.account is distinct from old.account
            or new.grant_meta #>> '{identity,subject}' <> old.grant_meta #>> '{identity,subject}'
            or new.grant_meta ->> 'client_id' is distinct from old.grant_meta ->> 'client_id'
            or new.grant_meta #>> '{server,issuer}' is distinct from old.grant_meta #>> '{server,issuer}'
            or old.grant_meta -> 'exchange' is not null and new.grant_meta -> 'exchange' is null))
    execute function queue_revocation();

-- +goose Down
create or replace trigger queue_revocation_of_replaced before update on credentials
    for each row when (
        old.type = 'oauth2' and old.status <> 'revoked' and (
            new.type <> 'oauth2'
            or new.id <> old.id and old.grant_meta #>> '{identity,subject}' is not null
            or new.account is distinct from old.account
            or new.grant_meta #>> '{identity,subject}' <> old.grant_meta #>> '{identity,subject}'
            or new.grant_meta ->> 'client_id' is distinct from old.grant_meta ->> 'client_id'
            or new.grant_meta #>> '{server,issuer}' is distinct from old.grant_meta #>> '{server,issuer}'))
    execute function queue_revocation();
drop table signing_keys;
alter table instances drop column token_exchange;
alter table sso_identities drop column email;
alter table agents drop column disconnected;
alter table tenants drop column token_exchange;
