-- Invitations across tenants, found by the token of a link.

-- name: InvitationByToken :one
-- @sqlc-vet-disable tenant-scope
select sqlc.embed(tenants), invitations.id, invitations.email, invitations.role, invitations.invited_by_name, invitations.created_at,
       invitations.sent_at, invitations.sends, invitations.expires_at, invitations.accepted_at, invitations.revoked_at
from invitations
join tenants on tenants.id = invitations.tenant_id
where invitations.token_hash = @token_hash;

-- name: LockInvitation :one
-- Serializes uses of a link: the second finds it used.
-- @sqlc-vet-disable tenant-scope
select id
from invitations
where token_hash = @token_hash
for update;

-- name: AcceptInvitation :execrows
update invitations
set accepted_at = now()
where tenant_id = @tenant_id
  and id = @id
  and accepted_at is null
  and revoked_at is null;
