-- name: Members :many
select users.id, users.address as email, users.name, users.signed_in_at, memberships.role, memberships.created_at, memberships.seen_at,
       (f.confirmed_at is not null)::boolean as second_factor
from memberships
join users on users.id = memberships.user_id
left join second_factors f on f.user_id = users.id
where memberships.tenant_id = @tenant_id
  and (sqlc.narg(after_email)::text is null or users.address > sqlc.narg(after_email))
order by users.address
limit @max_rows;

-- name: Member :one
select users.id, users.address as email, users.name, users.signed_in_at, memberships.role, memberships.created_at, memberships.seen_at,
       (f.confirmed_at is not null)::boolean as second_factor
from memberships
join users on users.id = memberships.user_id
left join second_factors f on f.user_id = users.id
where memberships.tenant_id = @tenant_id and memberships.user_id = @user_id;

-- name: LockMember :one
-- The share lock keeps the role until the transaction ends.
select role
from memberships
where tenant_id = @tenant_id and user_id = @user_id
for share;

-- name: AddUser :one
-- An existing account is not changed.
insert into users (id, email, name)
values (@id, @email, @name)
on conflict (email) do update set email = excluded.email
returning users.id;

-- name: AddPassword :exec
-- An existing password is not changed.
insert into user_passwords (user_id, hash)
values (@user_id, @hash)
on conflict (user_id) do nothing;

-- name: AddIssuedPassword :exec
-- The tenant scope cannot read passwords, so on conflict is not possible. The account must be new.
insert into user_passwords (user_id, hash)
values (@user_id, @hash);

-- name: AddNewUser :one
-- No row: the address exists.
insert into users (id, email, name)
values (@id, @email, @name)
on conflict (email) do nothing
returning users.id;

-- name: IssueAccount :one
-- The account belongs to one tenant. Other accounts may have the same address.
insert into users (id, email, name, issued_by)
values (@id, @email, @name, @issued_by)
returning users.id;

-- name: DeleteIssuedAccount :exec
delete from users
where id = @id and issued_by = @issued_by;

-- name: AddMembership :exec
insert into memberships (tenant_id, user_id, role)
values (@tenant_id, @user_id, @role);

-- name: LockOwners :many
-- Serializes removals: two owners cannot both pass the check for the last owner.
select user_id
from memberships
where tenant_id = @tenant_id and role = 'owner'
order by user_id
for update;

-- name: SetMemberRole :execrows
update memberships
set role = @role
where tenant_id = @tenant_id and user_id = @user_id;

-- name: RemoveMember :execrows
delete from memberships
where tenant_id = @tenant_id and user_id = @user_id;

-- name: MailPreference :one
select memberships.mail, memberships.mail_language, memberships.role, users.address as email
from memberships
join users on users.id = memberships.user_id
where memberships.tenant_id = @tenant_id and memberships.user_id = @user_id;

-- name: SetMailPreference :execrows
-- Notices from before the pause are not sent. The next mail need not wait for the pause unless one was sent within it.
update memberships
set mail = @mail,
    mail_language = @mail_language,
    mailed_at = greatest(mailed_at, now() - make_interval(secs => @pause::double precision))
where tenant_id = @tenant_id and user_id = @user_id;
