-- Second factors of users. A user can belong to several tenants, so the rows have no tenant.

-- name: SecondFactor :one
select f.sealed, f.created_at, f.confirmed_at, f.begun_by, f.wrong_codes,
       (f.created_at > now() - interval '15 minutes')::boolean as fresh,
       (select count(*) from recovery_codes c where c.user_id = f.user_id and c.used_at is null)::integer as codes_left
from second_factors f
where f.user_id = @user_id;

-- name: BeginSecondFactor :execrows
-- 0 rows: a confirmed factor exists.
insert into second_factors (user_id, sealed, begun_by)
values (@user_id, @sealed, @begun_by::uuid)
on conflict (user_id) do update
set sealed = excluded.sealed, begun_by = excluded.begun_by, created_at = now()
where second_factors.confirmed_at is null;

-- name: ConfirmSecondFactor :execrows
-- 0 rows: the factor is confirmed, or a new one was begun.
update second_factors
set confirmed_at = now(), last_step = @step
where user_id = @user_id and confirmed_at is null and created_at = @created_at and begun_by = @begun_by::uuid;

-- name: DeleteUnconfirmedFactor :exec
delete from second_factors
where user_id = @user_id and confirmed_at is null;

-- name: CountWrongCode :exec
update second_factors
set wrong_codes = wrong_codes + 1
where user_id = @user_id and confirmed_at is not null;

-- name: ResetWrongCodes :exec
update second_factors
set wrong_codes = 0
where user_id = @user_id and wrong_codes > 0;

-- name: AcceptStep :execrows
-- 0 rows: a code of this or a later time step was used.
update second_factors
set last_step = @step
where user_id = @user_id and confirmed_at is not null and last_step < @step;

-- name: DeleteSecondFactor :execrows
delete from second_factors
where user_id = @user_id;

-- name: DeleteRecoveryCodes :exec
delete from recovery_codes
where user_id = @user_id;

-- name: AddRecoveryCodes :exec
insert into recovery_codes (user_id, number, mac)
select @user_id, codes.number, codes.mac
from unnest(@macs::bytea[]) with ordinality as codes (mac, number);

-- name: RecoveryCodes :many
select number, mac
from recovery_codes
where user_id = @user_id and used_at is null
order by number;

-- name: UseRecoveryCode :execrows
-- 0 rows: the code was used concurrently.
update recovery_codes
set used_at = now()
where user_id = @user_id and number = @number and used_at is null;

-- name: MarkSessionSecondFactor :exec
update browser_sessions
set second_factor = true
where id = @id;

-- name: IsMemberElsewhere :one
-- @sqlc-vet-disable tenant-scope
select exists (select from memberships where memberships.user_id = @user_id and memberships.tenant_id <> @tenant_id)::boolean as elsewhere;

-- name: LockUser :exec
-- Inserts of a membership of the user wait until the transaction ends.
-- @sqlc-vet-disable tenant-scope
select users.id from users where users.id = @user_id for update;
