-- E-mail: links to set a new password, and members to write to.

-- name: AddPasswordReset :exec
-- The person's earlier links become invalid, and those of others that expired go.
with swept as (
    delete from password_resets
    where password_resets.user_id = @user_id or password_resets.expires_at < now()
)
insert into password_resets (token_hash, user_id, expires_at)
values (@token_hash, @user_id, @expires_at);

-- name: PasswordReset :one
select users.id, users.address as email, users.name, users.issued_by, password_resets.expires_at
from password_resets
join users on users.id = password_resets.user_id
where password_resets.token_hash = @token_hash;

-- name: UsePasswordReset :one
delete from password_resets
where token_hash = @token_hash and expires_at > now()
returning user_id;

-- name: ClaimMail :many
-- Members with news since they were last considered, at most once per @pause seconds. The claim counts the news as sent.
-- @sqlc-vet-disable tenant-scope
with due as (
    select memberships.tenant_id, memberships.user_id, memberships.mailed_at
    from memberships
    where memberships.mail <> 'none' and memberships.role <> 'viewer'
      and (memberships.mailed_at is null or memberships.mailed_at < now() - make_interval(secs => @pause::double precision))
      and exists (
          select from notices
          where notices.tenant_id = memberships.tenant_id
            and notices.at > coalesce(memberships.mailed_at, memberships.created_at)
            and notices.kind = any(case memberships.mail when 'approvals' then @approvals::text[] else @all_kinds::text[] end)
            and case notices.kind
                when 'access_request.waiting' then memberships.role in ('owner', 'admin') and exists (
                    select from access_requests
                    where access_requests.tenant_id = notices.tenant_id and access_requests.id = (notices.data ->> 'request_id')::uuid
                      and access_requests.state = 'open')
                when 'access_request.decided' then exists (
                    select from access_requests
                    where access_requests.tenant_id = notices.tenant_id and access_requests.id = (notices.data ->> 'request_id')::uuid
                      and access_requests.asker = memberships.user_id)
                else true
            end)
    order by memberships.mailed_at nulls first, memberships.tenant_id, memberships.user_id
    limit @max_rows
    for update of memberships skip locked
)
update memberships
set mailed_at = now()
from due
where memberships.tenant_id = due.tenant_id and memberships.user_id = due.user_id
returning memberships.tenant_id, memberships.user_id, coalesce(due.mailed_at, memberships.created_at)::timestamptz as since;
