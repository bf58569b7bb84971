-- name: SaveRegistration :exec
insert into client_registrations (tenant_id, issuer, redirect_uri, client_id, source, auth_method, sealed, secret_expires_at)
values (@tenant_id, @issuer, @redirect_uri, @client_id, @source, @auth_method, @sealed, @secret_expires_at)
on conflict on constraint client_registrations_pkey do update
set client_id = excluded.client_id,
    source = excluded.source,
    auth_method = excluded.auth_method,
    sealed = excluded.sealed,
    secret_expires_at = excluded.secret_expires_at,
    created_at = now();

-- name: Registration :one
select client_registrations.*
from client_registrations
where tenant_id = @tenant_id and issuer = @issuer and redirect_uri = @redirect_uri
  and (secret_expires_at is null or secret_expires_at > now());

-- name: ForgetRegistration :exec
-- Only the one that was seen to be dead: another may have been made meanwhile.
delete from client_registrations
where tenant_id = @tenant_id and issuer = @issuer and redirect_uri = @redirect_uri and client_id = @client_id;

-- name: SaveFlow :exec
-- Each new flow takes the tenant's expired ones with it.
with swept as (
    delete from oauth_flows
    where oauth_flows.tenant_id = @tenant_id and oauth_flows.expires_at < now()
)
insert into oauth_flows (tenant_id, id, state_hash, browser_hash, connector_id, agent_id, started_by, origin, metadata, client_id,
                         resource, scopes, redirect_uri, return_to, sealed)
values (@tenant_id, @id, @state_hash, @browser_hash, @connector_id, @agent_id, @started_by, @origin, @metadata, @client_id,
        @resource, @scopes, @redirect_uri, @return_to, @sealed);

-- name: SaveConnectLink :exec
-- Each new link takes the tenant's expired ones with it.
with swept as (
    delete from connect_links
    where connect_links.tenant_id = @tenant_id and connect_links.expires_at < now()
)
insert into connect_links (tenant_id, token_hash, connector_id, agent_id, made_by, return_to, expires_at)
values (@tenant_id, @token_hash, @connector_id, @agent_id, @made_by, @return_to, @expires_at);

-- name: SaveGrant :exec
-- The row keeps its id when its grant is replaced; a refresh of the old one that is under way finds another version.
insert into credentials (tenant_id, id, connector_id, agent_id, type, origin, sealed, account, scopes, expires_at, grant_meta)
values (@tenant_id, @id, @connector_id, @agent_id, 'oauth2', @origin, @sealed, @account, @scopes, @expires_at, @grant_meta)
on conflict on constraint credentials_owner_key do update
set type = excluded.type,
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
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = credentials.version + 1,
    updated_at = now();

-- name: LeaseGrant :execrows
-- Whoever changes the row may refresh. No connection is held meanwhile: the lease ends by itself where its process dies.
update credentials
set lease_id = @lease_id::uuid,
    lease_until = now() + make_interval(secs => @seconds::double precision)
where tenant_id = @tenant_id and id = @id and version = @version and status in ('active', 'refresh_failed')
  and (lease_until is null or lease_until < now())
  and (retry_at is null or retry_at <= now());

-- name: SaveRefreshed :execrows
update credentials
set sealed = @sealed,
    scopes = @scopes,
    expires_at = @expires_at,
    grant_meta = @grant_meta,
    refreshed_at = now(),
    status = 'active',
    error = '',
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = version + 1,
    updated_at = now()
where tenant_id = @tenant_id and id = @id and version = @version and lease_id = @lease_id::uuid;

-- name: EndGrant :execrows
update credentials
set status = 'revoked',
    error = @error,
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = version + 1,
    updated_at = now()
where tenant_id = @tenant_id and id = @id and version = @version and lease_id = @lease_id::uuid;

-- name: DelayRefresh :execrows
-- The grant stays as it is, and so does its version.
update credentials
set status = 'refresh_failed',
    error = @error,
    retry_at = now() + make_interval(secs => @seconds::double precision),
    lease_id = null,
    lease_until = null,
    updated_at = now()
where tenant_id = @tenant_id and id = @id and version = @version and lease_id = @lease_id::uuid;
