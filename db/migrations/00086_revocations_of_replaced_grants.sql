-- +goose Up

-- A grant that is replaced by one of another issuer or client, or by another kind of credential, is revoked, too. The credential keeps its
-- id, and may be deleted later, so that the revocation has an id of its own.
-- +goose StatementBegin
create or replace function queue_revocation() returns trigger
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
create trigger queue_revocation_of_replaced before update on credentials
    for each row when (
        old.type = 'oauth2' and old.status <> 'revoked' and (
            new.type <> 'oauth2'
            or new.grant_meta ->> 'client_id' is distinct from old.grant_meta ->> 'client_id'
            or new.grant_meta #>> '{server,issuer}' is distinct from old.grant_meta #>> '{server,issuer}'))
    execute function queue_revocation();

-- +goose Down
drop trigger queue_revocation_of_replaced on credentials;
-- +goose StatementBegin
create or replace function queue_revocation() returns trigger
    language plpgsql
as $$
begin
    if not exists (select from tenants where tenants.id = old.tenant_id) then
        return old;
    end if;
    insert into account_revocations (tenant_id, id, connector_id, agent_id, origin, sealed, grant_meta, account, connector_slug, connector_name)
    select old.tenant_id, old.id, old.connector_id, old.agent_id, old.origin, old.sealed, old.grant_meta, old.account,
           coalesce(c.slug, ''), coalesce(c.name, '')
    from (select) one
    left join connectors c on c.tenant_id = old.tenant_id and c.id = old.connector_id
    on conflict on constraint account_revocations_pkey do nothing;
    insert into revocation_clients (tenant_id, id, connector_id, client_id, origin, issuer, sealed)
    select c.tenant_id, old.id, c.connector_id, c.client_id, c.origin, c.issuer, c.sealed
    from connector_clients c
    where c.tenant_id = old.tenant_id
      and c.connector_id = old.connector_id
      and c.client_id = old.grant_meta ->> 'client_id'
      and c.issuer = old.grant_meta #>> '{server,issuer}'
    on conflict on constraint revocation_clients_pkey do nothing;
    return old;
end $$;
-- +goose StatementEnd
