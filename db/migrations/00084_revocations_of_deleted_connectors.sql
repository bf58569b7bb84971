-- +goose Up

-- The connector's slug and name when the grant was deleted. Empty: the grant was deleted before this migration.
alter table account_revocations
    add column connector_slug text not null default '',
    add column connector_name text not null default '';

-- A connector's credentials are deleted before the connector itself. A cascade deletes them later, and possibly after the connector's
-- client: the order of cascades follows the foreign keys' OIDs, which a restored dump assigns anew.
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

-- +goose Down
drop trigger delete_credentials_of_connector on connectors;
drop function delete_credentials_of_connector();
-- +goose StatementBegin
create or replace function queue_revocation() returns trigger
    language plpgsql
as $$
begin
    if not exists (select from tenants where tenants.id = old.tenant_id) then
        return old;
    end if;
    insert into account_revocations (tenant_id, id, connector_id, agent_id, origin, sealed, grant_meta, account)
    values (old.tenant_id, old.id, old.connector_id, old.agent_id, old.origin, old.sealed, old.grant_meta, old.account)
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
alter table account_revocations drop column connector_slug, drop column connector_name;
