-- Verified domains across tenants.

-- name: SSOTenant :one
-- @sqlc-vet-disable tenant-scope
select sso_domains.tenant_id
from sso_domains
join sso_settings on sso_settings.tenant_id = sso_domains.tenant_id
where sso_domains.domain = @domain
  and sso_domains.verified_at is not null
  and sso_settings.enabled;

-- name: SignInWays :one
-- What the sign-in page of an installation offers: owned is false until the first set-up.
-- @sqlc-vet-disable tenant-scope
select exists (select from memberships where memberships.role = 'owner')::boolean as owned,
       exists (select from sso_settings where sso_settings.enabled)::boolean as sso;

-- name: AssertedMembers :many
-- The members that a provider's subject is, in tenants where its identity assertions sign members in.
-- @sqlc-vet-disable tenant-scope
select i.tenant_id, i.user_id
from sso_identities i
join sso_settings s on s.tenant_id = i.tenant_id and s.issuer = i.issuer
where i.issuer = @issuer and i.subject = @subject and s.enabled and s.managed_clients
limit 2;
