-- +goose Up

-- The name of an account among those of its owner. An owner's only account may be named default. syncs: the account of the connector
-- that syncs use.
alter table credentials add column name text not null default 'default';
alter table credentials add column syncs boolean not null default false;
alter table credentials add constraint credentials_name_form check (name ~ '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$') not valid;
-- Servers of the previous release write by this constraint, and only accounts named default.
alter table credentials drop constraint credentials_owner_key;
alter table credentials add constraint credentials_owner_key unique nulls not distinct (tenant_id, connector_id, agent_id, name);
create unique index credentials_syncs_key on credentials (tenant_id, connector_id, (agent_id is null)) where syncs;

-- The name is part of what the sealed value is bound to.
alter table account_revocations add column name text not null default 'default';

-- +goose StatementBegin
create or replace function queue_revocation() returns trigger language plpgsql as $function$
declare
    revocation uuid := case tg_op when 'DELETE' then old.id else gen_random_uuid() end;
begin
    if not exists (select from tenants where tenants.id = old.tenant_id) then
        return case tg_op when 'DELETE' then old else new end;
    end if;
    insert into account_revocations (tenant_id, id, connector_id, agent_id, origin, sealed, grant_meta, account, connector_slug, connector_name, name)
    select old.tenant_id, revocation, old.connector_id, old.agent_id, old.origin, old.sealed, old.grant_meta, old.account,
           coalesce(c.slug, ''), coalesce(c.name, ''), old.name
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
end $function$;
-- +goose StatementEnd

-- The account named default is its owner's only one: servers of the previous release, which know no names, would use it in place of
-- another one. A new shared account is chosen for syncs if it is the connector's only usable one; one that was the only one until now
-- stays.
-- +goose StatementBegin
create function check_account_name() returns trigger language plpgsql as $function$
declare
    names text[];
    usable bigint;
    chosen bigint;
begin
    perform from connectors where connectors.tenant_id = new.tenant_id and connectors.id = new.connector_id for key share;
    perform pg_advisory_xact_lock(hashtextextended('accounts ' || new.tenant_id || ' ' || new.connector_id, 0));
    if new.agent_id is null then -- two statements, because "is not distinct from" uses no index
        select array_agg(c.name) into names
        from credentials c
        where c.tenant_id = new.tenant_id and c.connector_id = new.connector_id and c.agent_id is null and c.id <> new.id;
    else
        select array_agg(c.name) into names
        from credentials c
        where c.tenant_id = new.tenant_id and c.connector_id = new.connector_id and c.agent_id = new.agent_id and c.id <> new.id;
    end if;
    if exists (select from unnest(names) other(name) where other.name <> new.name and 'default' in (other.name, new.name)) then
        raise exception 'the account named default is not the only one'
            using errcode = 'check_violation', constraint = case new.name when 'default' then 'credentials_name_given' else 'credentials_default_alone' end;
    end if;
    if tg_op = 'UPDATE' or new.name = any(names) then
        return new; -- it replaces one
    end if;
    if new.agent_id is not null then
        return new;
    end if;
    select count(*), count(*) filter (where few.syncs) into usable, chosen
    from (select c.syncs
          from credentials c
          where c.tenant_id = new.tenant_id and c.connector_id = new.connector_id and c.agent_id is null
            and c.status in ('active', 'refresh_failed')
          limit 2) few;
    if usable = 0 then
        update credentials c
        set syncs = false
        where c.tenant_id = new.tenant_id and c.connector_id = new.connector_id and c.agent_id is null and c.syncs;
        new.syncs := true;
    elsif usable = 1 and chosen = 0 then
        update credentials c
        set syncs = true
        where c.tenant_id = new.tenant_id and c.connector_id = new.connector_id and c.agent_id is null
          and not exists (select from credentials other
                          where other.tenant_id = new.tenant_id and other.connector_id = new.connector_id
                            and other.agent_id is null and other.syncs)
          and c.status in ('active', 'refresh_failed');
    end if;
    return new;
end $function$;
-- +goose StatementEnd
create trigger check_account_name before insert or update of name on credentials for each row execute function check_account_name();

-- A person may replace an account of which the server says nothing. It gets another id, and is not revoked: both may be of one user.
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

-- +goose Down
select set_config('app.system', 'on', true);
delete from credentials where name <> 'default';
delete from account_revocations where name <> 'default';
drop trigger check_account_name on credentials;
create or replace trigger queue_revocation_of_replaced before update on credentials
    for each row when (
        old.type = 'oauth2' and old.status <> 'revoked' and (
            new.type <> 'oauth2'
            or new.id <> old.id
            or new.account is distinct from old.account
            or new.grant_meta #>> '{identity,subject}' <> old.grant_meta #>> '{identity,subject}'
            or new.grant_meta ->> 'client_id' is distinct from old.grant_meta ->> 'client_id'
            or new.grant_meta #>> '{server,issuer}' is distinct from old.grant_meta #>> '{server,issuer}'))
    execute function queue_revocation();
drop function check_account_name();
-- +goose StatementBegin
create or replace function queue_revocation() returns trigger language plpgsql as $function$
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
end $function$;
-- +goose StatementEnd
alter table account_revocations drop column name;
drop index credentials_syncs_key;
alter table credentials drop constraint credentials_owner_key;
alter table credentials drop constraint credentials_name_form;
alter table credentials drop column syncs;
alter table credentials drop column name;
alter table credentials add constraint credentials_owner_key unique nulls not distinct (tenant_id, connector_id, agent_id);
