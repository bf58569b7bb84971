-- People and groups that the tenant's identity provider manages by SCIM (RFC 7644).

-- name: SCIM :one
select scim_settings.prefix, scim_settings.created_at, scim_settings.rotated_at, scim_settings.last_request_at,
       (select count(*) from scim_users u where u.tenant_id = scim_settings.tenant_id) as users,
       (select count(*) from scim_users u where u.tenant_id = scim_settings.tenant_id and u.user_id is not null) as members,
       (select count(*) from scim_groups g where g.tenant_id = scim_settings.tenant_id) as groups
from scim_settings
where scim_settings.tenant_id = @tenant_id;

-- name: EnableSCIM :execrows
insert into scim_settings (tenant_id, id, prefix, secret_mac)
values (@tenant_id, @id, @prefix, @secret_mac)
on conflict (tenant_id) do nothing;

-- name: SetSCIMToken :execrows
update scim_settings
set id = @id,
    prefix = @prefix,
    secret_mac = @secret_mac,
    rotated_at = now()
where tenant_id = @tenant_id;

-- name: DisableSCIM :execrows
delete from scim_settings
where tenant_id = @tenant_id;

-- name: TouchSCIM :exec
-- At most one write a minute, as in TouchAPIKey.
update scim_settings
set last_request_at = now()
where tenant_id = @tenant_id and (last_request_at is null or last_request_at < now() - interval '1 minute');

-- name: LockSCIM :one
-- The share lock keeps the token until the transaction ends.
select id
from scim_settings
where tenant_id = @tenant_id
for share;

-- name: CountSCIMUsers :one
select count(*)
from scim_users u
where u.tenant_id = @tenant_id
  and (sqlc.narg(id)::uuid is null or u.id = sqlc.narg(id))
  and (sqlc.narg(user_name)::text is null or lower(u.user_name) = lower(sqlc.narg(user_name)))
  and (sqlc.narg(external_id)::text is null or u.external_id = sqlc.narg(external_id))
  and (sqlc.narg(email)::text is null or u.email = lower(sqlc.narg(email)))
  and (sqlc.narg(active)::boolean is null or u.active = sqlc.narg(active));

-- name: SCIMUsers :many
select sqlc.embed(u)
from scim_users u
where u.tenant_id = @tenant_id
  and (sqlc.narg(id)::uuid is null or u.id = sqlc.narg(id))
  and (sqlc.narg(user_name)::text is null or lower(u.user_name) = lower(sqlc.narg(user_name)))
  and (sqlc.narg(external_id)::text is null or u.external_id = sqlc.narg(external_id))
  and (sqlc.narg(email)::text is null or u.email = lower(sqlc.narg(email)))
  and (sqlc.narg(active)::boolean is null or u.active = sqlc.narg(active))
order by u.id
limit @max_rows offset @skipped;

-- name: SCIMUser :one
select *
from scim_users
where tenant_id = @tenant_id and id = @id;

-- name: AddSCIMUser :one
insert into scim_users (tenant_id, id, user_name, external_id, email, active, attributes)
values (@tenant_id, @id, @user_name, @external_id, @email, @active, @attributes)
returning *;

-- name: UpdateSCIMUser :execrows
-- The check refuses to keep a member that is not active: the membership is ended first.
update scim_users
set user_name = @user_name,
    external_id = @external_id,
    email = @email,
    active = @active,
    attributes = @attributes,
    updated_at = now()
where tenant_id = @tenant_id and id = @id;

-- name: LinkSCIMUser :execrows
update scim_users
set user_id = @user_id
where tenant_id = @tenant_id and id = @id;

-- name: DeleteSCIMUser :execrows
delete from scim_users
where tenant_id = @tenant_id and id = @id;

-- name: IsDeactivatedBySCIM :one
-- Reports whether the directory knows the address, and has no active person with it.
select coalesce(not bool_or(active), false)::boolean as deactivated
from scim_users
where tenant_id = @tenant_id and email = @email;

-- name: CountSCIMGroups :one
select count(*)
from scim_groups g
where g.tenant_id = @tenant_id
  and (sqlc.narg(id)::uuid is null or g.id = sqlc.narg(id))
  and (sqlc.narg(display_name)::text is null or lower(g.display_name) = lower(sqlc.narg(display_name)))
  and (sqlc.narg(external_id)::text is null or g.external_id = sqlc.narg(external_id))
  and (sqlc.narg(member)::uuid is null
       or exists (select from scim_group_members m where m.tenant_id = g.tenant_id and m.group_id = g.id and m.scim_user_id = sqlc.narg(member)));

-- name: SCIMGroups :many
select sqlc.embed(g)
from scim_groups g
where g.tenant_id = @tenant_id
  and (sqlc.narg(id)::uuid is null or g.id = sqlc.narg(id))
  and (sqlc.narg(display_name)::text is null or lower(g.display_name) = lower(sqlc.narg(display_name)))
  and (sqlc.narg(external_id)::text is null or g.external_id = sqlc.narg(external_id))
  and (sqlc.narg(member)::uuid is null
       or exists (select from scim_group_members m where m.tenant_id = g.tenant_id and m.group_id = g.id and m.scim_user_id = sqlc.narg(member)))
order by g.id
limit @max_rows offset @skipped;

-- name: SCIMGroup :one
select *
from scim_groups
where tenant_id = @tenant_id and id = @id;

-- name: AddSCIMGroup :one
insert into scim_groups (tenant_id, id, display_name, external_id)
values (@tenant_id, @id, @display_name, @external_id)
returning *;

-- name: UpdateSCIMGroup :execrows
update scim_groups
set display_name = @display_name,
    external_id = @external_id,
    updated_at = now()
where tenant_id = @tenant_id and id = @id;

-- name: DeleteSCIMGroup :execrows
delete from scim_groups
where tenant_id = @tenant_id and id = @id;

-- name: SCIMGroupMembers :many
select m.group_id, u.id, u.user_name
from scim_group_members m
join scim_users u on u.tenant_id = m.tenant_id and u.id = m.scim_user_id
where m.tenant_id = @tenant_id and m.group_id = any(@groups::uuid[])
order by m.group_id, u.user_name
limit @max_rows;

-- name: AddSCIMGroupMembers :execrows
insert into scim_group_members (tenant_id, group_id, scim_user_id)
select @tenant_id, @group_id, u.id
from scim_users u
where u.tenant_id = @tenant_id and u.id = any(@users::uuid[]);

-- name: RemoveSCIMGroupMembers :exec
delete from scim_group_members
where tenant_id = @tenant_id and group_id = @group_id and scim_user_id = any(@users::uuid[]);

-- name: SCIMGroupsOfUsers :many
select m.scim_user_id, g.id, g.display_name
from scim_group_members m
join scim_groups g on g.tenant_id = m.tenant_id and g.id = m.group_id
where m.tenant_id = @tenant_id and m.scim_user_id = any(@users::uuid[])
order by m.scim_user_id, g.display_name;

-- name: OtherPasswordOwners :one
-- Other owners with a password that opens the tenant.
select count(*)
from memberships
where tenant_id = @tenant_id and role = 'owner' and user_id <> @user_id and has_password(user_id) and not sso_only;

-- name: EndTokensOfMemberAgents :exec
delete from agent_tokens
using personal_agents p
where agent_tokens.tenant_id = @tenant_id and p.tenant_id = agent_tokens.tenant_id and p.agent_id = agent_tokens.agent_id and p.user_id = @user_id;

-- name: EndWorkloadsOfMemberAgents :exec
delete from agent_workloads
using personal_agents p
where agent_workloads.tenant_id = @tenant_id and p.tenant_id = agent_workloads.tenant_id and p.agent_id = agent_workloads.agent_id and p.user_id = @user_id;

-- name: UpdateIssuedAccount :execrows
-- Only an account that the tenant issued. Its key is tenant id and address.
update users
set email = @email,
    name = @name,
    updated_at = now()
where id = @id and issued_by = @issued_by;

-- name: IsSCIMRole :one
-- Reports whether the provider's groups give the member a role: they manage the member, and send groups.
select (exists (select from scim_users where scim_users.tenant_id = @tenant_id and scim_users.user_id = @user_id)
        and exists (select from scim_groups where scim_groups.tenant_id = @tenant_id))::boolean as given;
