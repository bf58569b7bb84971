-- Verified domains across tenants.

-- name: SSOTenant :one
-- @sqlc-vet-disable tenant-scope
select sso_domains.tenant_id
from sso_domains
join sso_settings on sso_settings.tenant_id = sso_domains.tenant_id
where sso_domains.domain = @domain
  and sso_domains.verified_at is not null
  and sso_settings.enabled;
