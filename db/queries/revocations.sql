-- name: Revocation :one
-- With the secret of the connector's own client, where the grant is for that.
select sqlc.embed(r), coalesce(c.client_id, '')::text as client_id, coalesce(c.origin, '')::text as client_origin,
       coalesce(c.issuer, '')::text as client_issuer, c.sealed as client_sealed
from account_revocations r
left join revocation_clients c on c.tenant_id = r.tenant_id and c.id = r.id
where r.tenant_id = @tenant_id and r.id = @id;

-- name: FinishRevocation :execrows
delete from account_revocations
where tenant_id = @tenant_id and id = @id;
