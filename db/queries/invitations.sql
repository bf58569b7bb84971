-- name: Invitations :many
-- Open invitations, expired ones included. Newest first.
select id, email, role, invited_by_name, created_at, sent_at, sends, expires_at, accepted_at, revoked_at
from invitations
where tenant_id = @tenant_id
  and accepted_at is null
  and revoked_at is null
  and (sqlc.narg(before_id)::uuid is null or id < sqlc.narg(before_id))
order by id desc
limit @max_rows;

-- name: CreateInvitation :one
-- No row: the address belongs to a member. Each insert deletes invitations that ended 90 days ago, so that no sweeper
-- is needed.
with swept as (
    delete from invitations
    where invitations.tenant_id = @tenant_id
      and coalesce(invitations.accepted_at, invitations.revoked_at) < now() - interval '90 days'
)
insert into invitations (tenant_id, id, email, role, token_hash, invited_by, invited_by_name, expires_at)
select @tenant_id, @id::uuid, @email::text, @role, @token_hash::bytea, sqlc.narg(invited_by)::uuid, @invited_by_name::text, @expires_at::timestamptz
where not exists (
    select from memberships
    join users on users.id = memberships.user_id
    where memberships.tenant_id = @tenant_id and users.address = @email)
returning id, email, role, invited_by_name, created_at, sent_at, sends, expires_at, accepted_at, revoked_at;

-- name: SendInvitation :one
-- The previous link becomes invalid.
update invitations
set token_hash = @token_hash,
    expires_at = @expires_at,
    invited_by = @invited_by,
    invited_by_name = @invited_by_name,
    sent_at = now(),
    sends = sends + 1
where tenant_id = @tenant_id
  and id = @id
  and accepted_at is null
  and revoked_at is null
returning id, email, role, invited_by_name, created_at, sent_at, sends, expires_at, accepted_at, revoked_at;

-- name: RevokeInvitation :one
update invitations
set revoked_at = now()
where tenant_id = @tenant_id
  and id = @id
  and accepted_at is null
  and revoked_at is null
returning id, email, role, invited_by_name, created_at, sent_at, sends, expires_at, accepted_at, revoked_at;

-- name: RevokeInvitationsBy :exec
-- A member without the right to invite has no open invitations.
update invitations
set revoked_at = now()
where tenant_id = @tenant_id
  and invited_by = sqlc.arg(invited_by)::uuid
  and accepted_at is null
  and revoked_at is null;

-- name: RevokeInvitationsTo :exec
-- A member needs no invitation.
update invitations
set revoked_at = now()
where tenant_id = @tenant_id
  and email = @email
  and accepted_at is null
  and revoked_at is null;
