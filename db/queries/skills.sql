-- name: SkillStates :many
-- What the next list is compared with.
select uri, current_hash, accepted_hash, review, (removed_at is not null)::boolean as removed
from skills
where tenant_id = @tenant_id and connector_id = @connector_id
order by uri;

-- name: CountOutdatedSkills :one
-- As CountOutdatedTools.
select count(*)
from (select unnest(@uris::text[]) as uri,
             unnest(@current_hashes::bytea[]) as current_hash,
             unnest(@accepted_hashes::bytea[]) as accepted_hash,
             unnest(@reviews::text[]) as review) base
left join skills on skills.tenant_id = @tenant_id and skills.connector_id = @connector_id and skills.uri = base.uri
where skills.current_hash is distinct from base.current_hash or skills.accepted_hash is distinct from base.accepted_hash
   or coalesce(skills.review, '') <> base.review;

-- name: SetSkillsHash :execrows
update connectors
set skills_hash = @skills_hash
where tenant_id = @tenant_id and id = @id;

-- name: WriteSkills :exec
insert into skills (tenant_id, connector_id, uri, current_hash, accepted_hash, review)
select @tenant_id, @connector_id, new.uri, new.current_hash, new.accepted_hash, new.review
from (select unnest(@uris::text[]) as uri,
             unnest(@current_hashes::bytea[]) as current_hash,
             unnest(@accepted_hashes::bytea[]) as accepted_hash,
             unnest(@reviews::text[]) as review) new
on conflict (tenant_id, connector_id, uri) do update
set current_hash = excluded.current_hash,
    accepted_hash = excluded.accepted_hash,
    review = excluded.review,
    changed_at = case when skills.current_hash = excluded.current_hash then skills.changed_at else now() end,
    removed_at = null;

-- name: WithholdSkills :exec
-- Entries that are not served, as skills that the server removed. No definition has their hash: nothing of them can be accepted.
insert into skills (tenant_id, connector_id, uri, current_hash, review, removed_at)
select @tenant_id, @connector_id, unnest(@uris::text[]), sha256(''::bytea), 'new', now()
on conflict (tenant_id, connector_id, uri) do nothing;

-- name: DeleteOldRemovedSkills :exec
-- Keeps the skills that were removed last, and those of uris.
delete from skills
where skills.tenant_id = @tenant_id and skills.connector_id = @connector_id and skills.removed_at is not null and skills.uri <> all(coalesce(@uris::text[], '{}'))
  and skills.uri in (
      select old.uri
      from skills old
      where old.tenant_id = @tenant_id and old.connector_id = @connector_id and old.removed_at is not null
      order by old.removed_at desc, old.uri
      offset @kept);

-- name: RemoveSkills :exec
update skills
set removed_at = now()
where tenant_id = @tenant_id and connector_id = @connector_id and uri = any(@uris::text[]) and removed_at is null;

-- name: Skills :many
-- uri empty: all that the server lists, and those of one URI otherwise.
select skills.uri, skills.current_hash, skills.accepted_hash, skills.review, skills.first_seen_at, skills.changed_at, skills.removed_at,
       now_listed.raw as current_raw, accepted.raw as accepted_raw
from skills
join tool_definitions now_listed on now_listed.tenant_id = skills.tenant_id and now_listed.hash = skills.current_hash
left join tool_definitions accepted on accepted.tenant_id = skills.tenant_id and accepted.hash = skills.accepted_hash
where skills.tenant_id = @tenant_id and skills.connector_id = @connector_id
  and case when @uri::text = '' then skills.removed_at is null else skills.uri = @uri end
order by skills.uri;

-- name: LockSkill :one
-- The connector is locked first, as at the end of a sync.
with locked as (
    select connectors.id
    from connectors
    where connectors.tenant_id = @tenant_id and connectors.id = @connector_id
    for no key update of connectors
)
select skills.current_hash, skills.accepted_hash, skills.review, (skills.removed_at is not null)::boolean as removed
from skills
join locked on locked.id = skills.connector_id
where skills.tenant_id = @tenant_id and skills.connector_id = @connector_id and skills.uri = @uri
for update of skills;

-- name: DecideSkill :exec
update skills
set accepted_hash = @accepted_hash, review = @review
where tenant_id = @tenant_id and connector_id = @connector_id and uri = @uri;

-- name: AccessSkills :many
-- Skills of the agent's connectors that the server lists, each with its accepted definition, if there is one and the agent has not
-- reached its limits before: by slug and URI, connectors with granted resources first, unless they ended. Of the others, only the URIs: their files stay
-- withheld. Those of the scheme skill always are.
select known.connector_id, known.uri, served.raw as accepted_raw, (known.counts and known.hash is not null and served.hash is null)::boolean as over_limit
from (select skills.connector_id, skills.uri, accepted.hash, permits.counts,
             count(accepted.hash) over places as number,
             sum(octet_length(accepted.raw)) over places as bytes
      from agent_grants
      join connectors on connectors.tenant_id = agent_grants.tenant_id and connectors.id = agent_grants.connector_id
      join skills on skills.tenant_id = agent_grants.tenant_id and skills.connector_id = agent_grants.connector_id
        and (skills.removed_at is null or not starts_with(skills.uri, 'skill://'))
      left join tool_definitions accepted on accepted.tenant_id = skills.tenant_id and accepted.hash = skills.accepted_hash and skills.removed_at is null
      cross join lateral (select connectors.enabled and agent_grants.resources <> 'none' and coalesce(agent_grants.until > now(), true) as counts) permits
      where agent_grants.tenant_id = @tenant_id and agent_grants.agent_id = @agent_id
      window places as (order by not permits.counts, connectors.slug, skills.uri)) known
left join tool_definitions served on served.tenant_id = @tenant_id and served.hash = known.hash
  and known.number <= @max_skills::bigint and known.bytes <= @max_bytes::bigint
order by known.connector_id, known.uri;
