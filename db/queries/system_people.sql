-- Users, sign-in and API keys, before the tenant is known.

-- name: UserByEmail :one
-- Only the self-made account. Accounts issued by tenants are excluded.
select users.id, users.address as email, users.name, p.hash as password_hash, users.password_set_at, users.issued_by, users.created_at,
       (f.confirmed_at is not null)::boolean as second_factor
from users
left join second_factors f on f.user_id = users.id
left join user_passwords p on p.user_id = users.id
where users.email = @email and users.issued_by is null;

-- name: UsersByAddress :many
-- Newest password first. An owner could issue an account to test a guessed password of the same address. With this
-- order the guess opens only the issued account.
select users.id, users.address as email, users.name, p.hash as password_hash, users.password_set_at, users.issued_by, users.created_at,
       (f.confirmed_at is not null)::boolean as second_factor
from users
left join second_factors f on f.user_id = users.id
left join user_passwords p on p.user_id = users.id
where users.address = @address
order by users.password_set_at desc, users.id desc;

-- name: LockUserByEmail :exec
-- Inserts of a membership of the user wait until the transaction ends.
select id
from users
where email = @email and issued_by is null
for update;

-- name: DeleteUserWithoutTenant :exec
-- @sqlc-vet-disable tenant-scope
delete from users
where email = @email
  and issued_by is null
  and not exists (select from memberships where memberships.user_id = users.id);

-- name: SetPasswordHash :exec
-- The old hash is compared, so that a concurrent change of the password stays.
update user_passwords
set hash = @hash
where user_id = @user_id and hash = @old;

-- name: ChangePassword :execrows
-- Links to set another one end.
with ended as (
    delete from password_resets where password_resets.user_id = @id
), stored as (
    insert into user_passwords (user_id, hash)
    select users.id, @hash from users where users.id = @id
    on conflict (user_id) do update set hash = excluded.hash
)
update users
set password_set_at = clock_timestamp(), updated_at = now()
where users.id = @id;

-- name: RecordSignIn :execrows
update users
set signed_in_at = now()
where id = @id;

-- name: Memberships :many
-- @sqlc-vet-disable tenant-scope
select sqlc.embed(tenants), memberships.role, users.address as email, users.name, users.password_set_at, (users.issued_by is not null)::boolean as issued,
       coalesce(sso.enabled, false)::boolean as sso,
       (memberships.sso_only or coalesce(sso.enforced and sso.break_glass <> memberships.user_id, false))::boolean as sso_only,
       (f.confirmed_at is not null)::boolean as second_factor
from memberships
join tenants on tenants.id = memberships.tenant_id
join users on users.id = memberships.user_id
left join sso_settings sso on sso.tenant_id = memberships.tenant_id
left join second_factors f on f.user_id = memberships.user_id
where memberships.user_id = @user_id
order by lower(tenants.name), tenants.id;

-- name: Membership :one
select sqlc.embed(tenants), memberships.role, users.address as email, users.name, users.password_set_at, (users.issued_by is not null)::boolean as issued,
       coalesce(sso.enabled, false)::boolean as sso,
       (memberships.sso_only or coalesce(sso.enforced and sso.break_glass <> memberships.user_id, false))::boolean as sso_only,
       (f.confirmed_at is not null)::boolean as second_factor
from memberships
join tenants on tenants.id = memberships.tenant_id
join users on users.id = memberships.user_id
left join sso_settings sso on sso.tenant_id = memberships.tenant_id
left join second_factors f on f.user_id = memberships.user_id
where memberships.user_id = @user_id and memberships.tenant_id = @tenant_id;

-- name: TouchMembership :exec
-- At most one write in five minutes: the time is only displayed.
update memberships
set seen_at = now()
where tenant_id = @tenant_id
  and user_id = @user_id
  and (seen_at is null or seen_at < now() - interval '5 minutes');

-- name: APIKey :one
-- @sqlc-vet-disable tenant-scope
select sqlc.embed(tenants), sqlc.embed(api_keys)
from api_keys
join tenants on tenants.id = api_keys.tenant_id
where api_keys.id = @id;

-- name: SCIMToken :one
-- @sqlc-vet-disable tenant-scope
select sqlc.embed(tenants), scim_settings.secret_mac, scim_settings.last_request_at
from scim_settings
join tenants on tenants.id = scim_settings.tenant_id
where scim_settings.id = @id;

-- name: TouchAPIKey :exec
-- At most one write a minute: keys are used with every request, and the time is only displayed.
-- @sqlc-vet-disable tenant-scope
update api_keys
set last_used_at = now()
where id = @id and (last_used_at is null or last_used_at < now() - interval '1 minute');

-- name: SignInFailures :one
-- Counts up to 100 each.
select (select count(*)
        from (select from sign_in_failures f
              where f.account = @account and f.at > @since
              limit 100) a)::bigint as by_account,
       (select count(*)
        from (select from sign_in_failures f
              where f.address = @address and f.at > @since
              limit 100) b)::bigint as by_address;

-- name: RecordSignInFailure :exec
-- Each insert deletes up to 10 expired rows, so that no sweeper is needed.
with swept as (
    delete from sign_in_failures
    where sign_in_failures.id in (
        select oldest.id
        from (select f.id, f.at from sign_in_failures f order by f.id limit 10) oldest
        where oldest.at < now() - interval '1 day')
)
insert into sign_in_failures (account, address)
values (@account, @address);

-- name: ClearSignInFailures :exec
delete from sign_in_failures
where account = @account;

-- name: AgentToken :one
-- @sqlc-vet-disable tenant-scope
select agent_tokens.*
from agent_tokens
where agent_tokens.id = @id;

-- name: TouchAgentToken :exec
-- At most one write a minute, as in TouchAPIKey.
-- @sqlc-vet-disable tenant-scope
update agent_tokens
set last_used_at = now()
where id = @id and (last_used_at is null or last_used_at < now() - interval '1 minute');

-- name: UnrecordedLocks :many
-- The first failure of each account that completes a lock: @others failures precede it within the window. A failure
-- within a window after a recorded one belongs to the same lock. Addresses without an account are excluded.
select distinct on (failures.account) failures.id, failures.account, failures.address, failures.at
from (
    select f.id, f.account, f.address, f.at, lag(f.at, @others::integer) over (partition by f.account order by f.at, f.id) as first_at
    from sign_in_failures f
    where f.at > @since
) failures
where exists (select from users where users.address = failures.account)
  and failures.first_at > failures.at - make_interval(secs => @window_seconds::double precision)
  and not exists (
      select from sign_in_failures told
      where told.account = failures.account
        and told.told_at is not null
        and told.at > failures.at - make_interval(secs => @window_seconds::double precision))
order by failures.account, failures.at, failures.id
limit 100;

-- name: MarkLockRecorded :execrows
update sign_in_failures
set told_at = now()
where id = @id and told_at is null;

-- name: HashOfEachCost :many
-- One password hash per cost. The recursion reads one index entry per cost.
with recursive costs as (
    (select user_passwords.hash, split_part(user_passwords.hash, '$', 4) as cost
     from user_passwords
     order by split_part(user_passwords.hash, '$', 4)
     limit 1)
    union all
    select next.hash, next.cost
    from costs
    cross join lateral (
        select user_passwords.hash, split_part(user_passwords.hash, '$', 4) as cost
        from user_passwords
        where split_part(user_passwords.hash, '$', 4) > costs.cost
        order by split_part(user_passwords.hash, '$', 4)
        limit 1) next
)
select costs.hash from costs;
