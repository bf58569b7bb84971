-- name: SaveRegistration :exec
-- The first of two concurrent registrations stays: flows and grants may use its client id. An expired one is replaced.
insert into client_registrations (tenant_id, issuer, redirect_uri, client_id, source, auth_method, sealed, secret_expires_at)
values (@tenant_id, @issuer, @redirect_uri, @client_id, @source, @auth_method, @sealed, @secret_expires_at)
on conflict on constraint client_registrations_pkey do update
set client_id = excluded.client_id,
    source = excluded.source,
    auth_method = excluded.auth_method,
    sealed = excluded.sealed,
    secret_expires_at = excluded.secret_expires_at,
    created_at = now()
where client_registrations.secret_expires_at <= now();

-- name: Registration :one
select client_registrations.*
from client_registrations
where tenant_id = @tenant_id and issuer = @issuer and redirect_uri = @redirect_uri
  and (secret_expires_at is null or secret_expires_at > now());

-- name: DeleteRegistration :exec
-- The client id is compared: a concurrent flow may have registered a new client.
delete from client_registrations
where tenant_id = @tenant_id and issuer = @issuer and redirect_uri = @redirect_uri and client_id = @client_id;

-- name: SaveFlow :exec
-- Each insert deletes the tenant's expired flows.
with swept as (
    delete from oauth_flows
    where oauth_flows.tenant_id = @tenant_id and oauth_flows.expires_at < now()
)
insert into oauth_flows (tenant_id, id, state_hash, browser_hash, connector_id, agent_id, started_by, origin, metadata, client_id,
                         resource, scopes, redirect_uri, return_to, replaces, account, account_id, sealed)
values (@tenant_id, @id, @state_hash, @browser_hash, @connector_id, @agent_id, @started_by, @origin, @metadata, @client_id,
        @resource, @scopes, @redirect_uri, @return_to, @replaces, @account, @account_id, @sealed);

-- name: DeleteFlows :exec
delete from oauth_flows
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: DeleteFlowsOfAccount :exec
-- Authorizations and links of accounts with these names, that would connect another one.
with links as (
    delete from connect_links
    where connect_links.tenant_id = @tenant_id and connect_links.connector_id = @connector_id
      and connect_links.agent_id is not distinct from @agent_id and connect_links.account = any(@accounts::text[])
)
delete from oauth_flows
where oauth_flows.tenant_id = @tenant_id and oauth_flows.connector_id = @connector_id
  and oauth_flows.agent_id is not distinct from @agent_id and oauth_flows.account = any(@accounts::text[]);

-- name: SaveConnectLink :exec
-- Each insert deletes the tenant's expired links. A creator has at most 20 links for one connector and agent.
with swept as (
    delete from connect_links
    where connect_links.tenant_id = @tenant_id
      and (connect_links.expires_at < now()
           or connect_links.token_hash in (
               select older.token_hash
               from connect_links older
               where older.tenant_id = @tenant_id and older.connector_id = @connector_id
                 and older.agent_id is not distinct from @agent_id
                 and older.made_by -> 'type' = @made_by::jsonb -> 'type'
                 and older.made_by -> 'id' is not distinct from @made_by::jsonb -> 'id'
               order by older.created_at desc, older.token_hash
               offset 19))
)
insert into connect_links (tenant_id, token_hash, connector_id, agent_id, account, account_id, made_by, return_to, expires_at)
values (@tenant_id, @token_hash, @connector_id, @agent_id, @account, @account_id, @made_by, @return_to, @expires_at);

-- name: SaveGrant :exec
-- The row keeps its id, unless the account is another, as in place of one that no person connected. A concurrent refresh of the replaced
-- grant fails by its version.
insert into credentials (tenant_id, id, connector_id, agent_id, name, type, origin, sealed, account, scopes, expires_at, grant_meta, connected_at)
values (@tenant_id, @id, @connector_id, @agent_id, @name, 'oauth2', @origin, @sealed, @account, @scopes, @expires_at, @grant_meta, now())
on conflict on constraint credentials_owner_key do update
set id = case when @replaces::boolean or credentials.member_id is not null or credentials.grant_meta -> 'exchange' is not null
              then excluded.id else credentials.id end,
    type = excluded.type,
    member_id = null,
    connected_at = excluded.connected_at,
    origin = excluded.origin,
    sealed = excluded.sealed,
    account = excluded.account,
    status = 'active',
    scopes = excluded.scopes,
    expires_at = excluded.expires_at,
    grant_meta = excluded.grant_meta,
    refreshed_at = null,
    last_used_at = null,
    error = '',
    upstream = null,
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = credentials.version + 1,
    updated_at = now();

-- name: LockConnectorSettings :exec
-- The lock waits for a concurrent change of the settings.
select connectors.id
from connectors
where connectors.tenant_id = @tenant_id and connectors.id = @id
for no key update;

-- name: LockConnectorOfCredential :exec
-- Only for a shared credential. The connector is locked before its credential, as in the deletion of a connector.
select connectors.id
from connectors
join credentials on credentials.tenant_id = connectors.tenant_id and credentials.connector_id = connectors.id
where credentials.tenant_id = @tenant_id and credentials.id = @credential_id and credentials.agent_id is null
for no key update of connectors;

-- name: LeaseGrant :one
-- The process with the lease may refresh. No connection is held meanwhile, and the lease expires if its process dies.
-- lost: a previous lease expired, so the result of its request is unknown.
update credentials
set grant_meta = case when lease_until is null then grant_meta else grant_meta || '{"lost_answer": true}' end,
    lease_id = @lease_id::uuid,
    lease_until = now() + make_interval(secs => @seconds::double precision)
where tenant_id = @tenant_id and id = @id and version = @version and status in ('active', 'refresh_failed')
  and (lease_until is null or lease_until < now())
  and (retry_at is null or retry_at <= now())
returning coalesce((grant_meta ->> 'lost_answer')::boolean, false)::boolean as lost;

-- name: SaveRefreshed :execrows
update credentials
set sealed = @sealed,
    scopes = @scopes,
    expires_at = @expires_at,
    grant_meta = @grant_meta,
    refreshed_at = now(),
    status = 'active',
    error = '',
    upstream = null,
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = version + 1,
    updated_at = now()
where tenant_id = @tenant_id and id = @id and version = @version and lease_id = @lease_id::uuid;

-- name: EndGrant :execrows
-- lease_id null: the resource server refused the token, not the authorization server. A shared credential sets the
-- connector's error.
with ended as (
    update credentials
    set status = 'revoked',
        error = @error,
        upstream = sqlc.narg(upstream),
        grant_meta = coalesce(sqlc.narg(grant_meta)::jsonb, grant_meta),
        lease_id = null,
        lease_until = null,
        retry_at = null,
        version = version + 1,
        updated_at = now()
    where credentials.tenant_id = @tenant_id and credentials.id = @id and credentials.version = @version
      and credentials.status in ('active', 'refresh_failed')
      and (sqlc.narg(lease_id)::uuid is null or credentials.lease_id = sqlc.narg(lease_id))
    returning credentials.tenant_id, credentials.id, credentials.connector_id, credentials.agent_id, credentials.name
), marked as (
    update connectors
    set last_error_code = 'credential_required',
        last_error_message = @error,
        last_error_at = now()
    from ended
    where connectors.tenant_id = @tenant_id and connectors.id = ended.connector_id and ended.agent_id is null
)
insert into audit_events (tenant_id, id, actor_type, actor_name, action, target, detail)
select ended.tenant_id, @event_id, 'system', 'Patchbay', 'credential.revoked', connectors.slug,
       jsonb_strip_nulls(jsonb_build_object('connector_id', ended.connector_id, 'agent_id', ended.agent_id, 'agent', agents.slug,
                                            'account', nullif(ended.name, 'default'), 'cause', @error::text))
from ended
join connectors on connectors.tenant_id = ended.tenant_id and connectors.id = ended.connector_id
left join agents on agents.tenant_id = ended.tenant_id and agents.id = ended.agent_id;

-- name: DelayRefresh :execrows
-- The grant and its version stay. lost: it is unknown whether the request took effect.
update credentials
set status = 'refresh_failed',
    error = @error,
    upstream = sqlc.narg(upstream),
    grant_meta = case when @lost::boolean then grant_meta || '{"lost_answer": true}' else grant_meta end,
    retry_at = now() + make_interval(secs => @seconds::double precision),
    lease_id = null,
    lease_until = null,
    updated_at = now()
where tenant_id = @tenant_id and id = @id and version = @version and lease_id = @lease_id::uuid;

-- name: SetClientSecret :exec
-- Entering it again also confirms the authorization server of managed accounts.
with confirmed as (
    update connectors
    set managed_issuer = ''
    where connectors.tenant_id = @tenant_id and connectors.id = @connector_id and managed_issuer <> ''
)
insert into connector_clients (tenant_id, connector_id, client_id, origin, sealed)
values (@tenant_id, @connector_id, @client_id, @origin, @sealed)
on conflict on constraint connector_clients_pkey do update
set client_id = excluded.client_id,
    origin = excluded.origin,
    issuer = '',
    sealed = excluded.sealed,
    updated_at = now();

-- name: ClientSecret :one
select connector_clients.*
from connector_clients
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: BindClientSecret :execrows
-- updated_at is compared, so that a newer secret is not overwritten.
update connector_clients
set issuer = @issuer,
    sealed = @sealed,
    updated_at = now()
where tenant_id = @tenant_id and connector_id = @connector_id and issuer = '' and client_id = @client_id and origin = @origin
  and updated_at = @seen_at;

-- name: DeleteClientSecret :execrows
delete from connector_clients
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: ExpiringCredentials :many
-- Credentials that have expired or expire within @seconds, and that Patchbay cannot refresh beyond that.
select connectors.slug as connector_slug, connectors.name as connector_name,
       coalesce(agents.slug, '')::text as agent_slug, coalesce(agents.name, '')::text as agent_name, credentials.name as account_name,
       lapses.at::timestamptz as lapses_at
from credentials
join connectors on connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id
left join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id
cross join lateral (
    select case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                else credentials.expires_at end as at
) lapses
where credentials.tenant_id = @tenant_id and credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed')
  and connectors.enabled
  and lapses.at < now() + make_interval(secs => @seconds::double precision)
order by lapses.at, credentials.id
limit @max_rows;
