-- name: Revocation :one
-- With the secret of the connector's own client, where the grant is for that. superseded: the same client was given a grant since, of the same
-- account as far as that is known. Many servers end all grants of a person to a client with any of them.
select sqlc.embed(r), coalesce(c.client_id, '')::text as client_id, coalesce(c.origin, '')::text as client_origin,
       coalesce(c.issuer, '')::text as client_issuer, c.sealed as client_sealed,
       exists (
           select from credentials newer
           where newer.tenant_id = @tenant_id
             and newer.type = 'oauth2'
             and coalesce(newer.connected_at, newer.created_at) > r.created_at
             and newer.grant_meta ->> 'client_id' = r.grant_meta ->> 'client_id'
             and newer.grant_meta #>> '{server,issuer}' = r.grant_meta #>> '{server,issuer}'
             and (newer.account = '' or r.account = '' or newer.account = r.account)
       ) as superseded
from account_revocations r
left join revocation_clients c on c.tenant_id = r.tenant_id and c.id = r.id
where r.tenant_id = @tenant_id and r.id = @id;

-- name: FinishRevocation :execrows
delete from account_revocations
where tenant_id = @tenant_id and id = @id;

-- name: ReleaseRevocation :execrows
update account_revocations
set claimed_until = null
where tenant_id = @tenant_id and id = @id;
