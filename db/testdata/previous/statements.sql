-- Every statement of the release before (scripts/previous-release). A test runs them on today's schema.

-- name: AcceptedDefinitions :many
select found.hash, found.bytes, (case when found.bytes <= $1::bigint then found.raw end)::bytea as raw
from (select definition.hash, definition.raw, sum(length(definition.raw)) over ()::bigint as bytes
      from tool_definitions definition
      where definition.tenant_id = $2 and definition.hash = any($3::bytea[])) found

-- name: AccessAllowances :many
select connector_id, tool, definition_hash, until, granted_by
from tool_allowances
where tenant_id = $1 and agent_id = $2 and until > now() and definition_hash is not null
order by connector_id, tool

-- name: AccessItems :many
select item.connector_id, item.kind, item.key, item.raw
from agent_grants
join connector_items item on item.tenant_id = agent_grants.tenant_id and item.connector_id = agent_grants.connector_id
where agent_grants.tenant_id = $1 and agent_grants.agent_id = $2
order by item.connector_id, item.kind, item.position

-- name: AccessReaches :many

select agent_grants.tenant_id, agent_grants.agent_id, agent_grants.connector_id, agent_grants.all_tools, agent_grants.tools, agent_grants.approval, agent_grants.trusted_tools, agent_grants.created_at, agent_grants.updated_at, connectors.tenant_id, connectors.id, connectors.slug, connectors.name, connectors.description, connectors.transport, connectors.url, connectors.headers, connectors.credential_mode, connectors.auth_type, connectors.auth_header, connectors.timeout_ms, connectors.retry_attempts, connectors.enabled, connectors.sync_interval_s, connectors.tool_changes, connectors.version, connectors.auth_behaviour, connectors.tool_count, connectors.tools_hash, connectors.tools_last_synced_at, connectors.next_sync_at, connectors.last_error_code, connectors.last_error_message, connectors.last_error_at, connectors.server_name, connectors.server_version, connectors.server_title, connectors.server_protocol, connectors.server_instructions, connectors.status, connectors.created_at, connectors.updated_at, connectors.oauth, connectors.command, connectors.args, connectors.cwd, connectors.era, connectors.calls_per_minute, connectors.server_capabilities, connectors.items_hash, connectors.max_definition_age_s, connectors.listen, connectors.accepted_instructions, connectors.instructions_review,
       coalesce((select connector_envs.names
                 from connector_envs
                 where connector_envs.tenant_id = connectors.tenant_id and connector_envs.connector_id = connectors.id), '{}')::text[] as env_names
from agent_grants
join connectors on connectors.tenant_id = agent_grants.tenant_id and connectors.id = agent_grants.connector_id
where agent_grants.tenant_id = $1 and agent_grants.agent_id = $2
order by connectors.slug

-- name: AccessTools :many
select tools.connector_id, tools.name, tools.accepted_hash, tools.review, tools.enabled, tools.alias, tools.agent_text,
       (tools.removed_at is not null)::boolean as removed
from agent_grants
join tools on tools.tenant_id = agent_grants.tenant_id and tools.connector_id = agent_grants.connector_id
where agent_grants.tenant_id = $1 and agent_grants.agent_id = $2
order by tools.connector_id, tools.name

-- name: CredentialOf :one
select id, connector_id, agent_id, type, origin,
       (case when type = 'oauth2' and status in ('active', 'refresh_failed') and expires_at <= now()
             and (grant_meta ->> 'refreshable')::boolean is not true then 'expired' else status end)::text as status, account, scopes, expires_at, refreshed_at, last_used_at, error, version,
       created_at, updated_at
from credentials
where tenant_id = $1 and connector_id = $2 and agent_id is not distinct from $3

-- name: AgentGrant :one
select agent_grants.tenant_id, agent_grants.agent_id, agent_grants.connector_id, agent_grants.all_tools, agent_grants.tools, agent_grants.approval, agent_grants.trusted_tools, agent_grants.created_at, agent_grants.updated_at, connectors.slug, connectors.name, connectors.enabled
from agent_grants
join connectors on connectors.tenant_id = agent_grants.tenant_id and connectors.id = agent_grants.connector_id
where agent_grants.tenant_id = $1 and agent_grants.agent_id = $2 and agent_grants.connector_id = $3

-- name: AgentGrants :many
select agent_grants.tenant_id, agent_grants.agent_id, agent_grants.connector_id, agent_grants.all_tools, agent_grants.tools, agent_grants.approval, agent_grants.trusted_tools, agent_grants.created_at, agent_grants.updated_at, connectors.slug, connectors.name, connectors.enabled
from agent_grants
join connectors on connectors.tenant_id = agent_grants.tenant_id and connectors.id = agent_grants.connector_id
where agent_grants.tenant_id = $1 and agent_grants.agent_id = $2
  and ($3::text is null or connectors.slug > $3)
order by connectors.slug
limit $4

-- name: DropAgentGrant :execrows
delete from agent_grants
where tenant_id = $1 and agent_id = $2 and connector_id = $3

-- name: SetAgentGrant :exec
insert into agent_grants (tenant_id, agent_id, connector_id, all_tools, tools, approval, trusted_tools)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict on constraint agent_grants_pkey do update
set all_tools = excluded.all_tools,
    tools = excluded.tools,
    approval = excluded.approval,
    trusted_tools = excluded.trusted_tools,
    updated_at = now()

-- name: AgentTokens :many
select id, agent_id, name, prefix, created_at, expires_at, last_used_at
from agent_tokens
where tenant_id = $1 and agent_id = $2
  and ($3::uuid is null or id < $3)
order by id desc
limit $4

-- name: CreateAgentToken :one
insert into agent_tokens (tenant_id, id, agent_id, name, prefix, secret_mac, expires_at)
values ($1, $2, $3, $4, $5, $6, $7)
returning id, agent_id, name, prefix, created_at, expires_at, last_used_at

-- name: DeleteAgentToken :one
delete from agent_tokens
where tenant_id = $1 and agent_id = $2 and id = $3
returning id, agent_id, name, prefix, created_at, expires_at, last_used_at

-- name: AgentByRef :one
select agents.tenant_id, agents.id, agents.slug, agents.name, agents.description, agents.approval, agents.enabled, agents.created_at, agents.updated_at, agents.name_limit, agents.calls_per_minute
from agents
where agents.tenant_id = $1
  and agents.id = coalesce(
      $2::uuid,
      (select named.id from agents named where named.tenant_id = $1 and named.slug = $3::text))

-- name: Agents :many
select agents.tenant_id, agents.id, agents.slug, agents.name, agents.description, agents.approval, agents.enabled, agents.created_at, agents.updated_at, agents.name_limit, agents.calls_per_minute
from agents
where tenant_id = $1
  and ($2::text is null or (lower(name), id) > (lower($2), $3::uuid))
order by lower(name), id
limit $4

-- name: CreateAgent :one
insert into agents (tenant_id, id, slug, name, description, approval, enabled, name_limit, calls_per_minute)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
returning agents.tenant_id, agents.id, agents.slug, agents.name, agents.description, agents.approval, agents.enabled, agents.created_at, agents.updated_at, agents.name_limit, agents.calls_per_minute

-- name: DeleteAgent :execrows
delete from agents
where tenant_id = $1 and id = $2

-- name: UpdateAgent :one
update agents
set slug = $1,
    name = $2,
    description = $3,
    approval = $4,
    enabled = $5,
    name_limit = $6,
    calls_per_minute = $7,
    updated_at = now()
where tenant_id = $8 and id = $9
returning agents.tenant_id, agents.id, agents.slug, agents.name, agents.description, agents.approval, agents.enabled, agents.created_at, agents.updated_at, agents.name_limit, agents.calls_per_minute

-- name: APIKeys :many
select id, name, role, prefix, created_at, expires_at, last_used_at, revoked_at, created_by_name
from api_keys
where tenant_id = $1
  and ($2::uuid is null or id < $2)
order by id desc
limit $3

-- name: CreateAPIKey :one
insert into api_keys (tenant_id, id, name, role, prefix, secret_mac, expires_at, created_by_name)
values ($1, $2, $3, $4, $5, $6, $7, $8)
returning id, name, role, prefix, created_at, expires_at, last_used_at, revoked_at, created_by_name

-- name: RevokeAPIKey :execrows
update api_keys
set revoked_at = coalesce(revoked_at, now())
where tenant_id = $1 and id = $2

-- name: AllowTool :exec
insert into tool_allowances (tenant_id, agent_id, connector_id, tool, definition_hash, until, granted_by)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict on constraint tool_allowances_pkey do update
set until = case when tool_allowances.definition_hash = excluded.definition_hash
                 then greatest(tool_allowances.until, excluded.until) else excluded.until end,
    definition_hash = excluded.definition_hash,
    granted_by = excluded.granted_by

-- name: Approval :one
select approvals.tenant_id, approvals.id, approvals.agent_id, approvals.connector_id, approvals.tool, approvals.exposed_name, approvals.definition_hash, approvals.call_hash, approvals.sealed, approvals.state, approvals.asked_at, approvals.expires_at, approvals.decided_at, approvals.decided_by, approvals.reason, approvals.instance_id, approvals.fetched_at
from approvals
where tenant_id = $1 and id = $2

-- name: ApprovalResult :one
select sealed
from approval_results
where tenant_id = $1 and id = $2

-- name: ClaimApproval :execrows
update approvals
set state = 'executing',
    instance_id = $1
where tenant_id = $2 and id = $3 and state = 'approved'

-- name: CountOpenApprovals :one
select count(*)
from approvals
where tenant_id = $1 and agent_id = $2 and state in ('waiting', 'approved', 'executing')

-- name: DecideApproval :one
update approvals
set state = case when $1::boolean then 'approved' else 'denied' end,
    decided_at = now(),
    decided_by = $2,
    reason = $3
where tenant_id = $4 and id = $5 and state = 'waiting' and expires_at > now()
returning tenant_id, id, agent_id, connector_id, tool, exposed_name, definition_hash, call_hash, sealed, state, asked_at, expires_at, decided_at, decided_by, reason, instance_id, fetched_at

-- name: DeniedCall :one
select approvals.tenant_id, approvals.id, approvals.agent_id, approvals.connector_id, approvals.tool, approvals.exposed_name, approvals.definition_hash, approvals.call_hash, approvals.sealed, approvals.state, approvals.asked_at, approvals.expires_at, approvals.decided_at, approvals.decided_by, approvals.reason, approvals.instance_id, approvals.fetched_at
from approvals
where tenant_id = $1 and agent_id = $2 and call_hash = $3 and state = 'denied' and decided_at > $4
order by id desc
limit 1

-- name: DropAllowance :execrows
delete from tool_allowances
where tenant_id = $1 and agent_id = $2 and connector_id = $3 and tool = $4

-- name: FetchApproval :execrows
update approvals
set fetched_at = now()
where tenant_id = $1 and id = $2 and state = 'done' and fetched_at is null

-- name: FinishApproval :execrows
update approvals
set state = 'done'
where tenant_id = $1 and id = $2 and state in ('executing', 'unknown') and instance_id = $3

-- name: InsertApproval :one

insert into approvals (tenant_id, id, agent_id, connector_id, tool, exposed_name, definition_hash, call_hash, sealed, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
on conflict (tenant_id, call_hash) where state in ('waiting', 'approved', 'executing') or (state = 'done' and fetched_at is null)
do nothing
returning tenant_id, id, agent_id, connector_id, tool, exposed_name, definition_hash, call_hash, sealed, state, asked_at, expires_at, decided_at, decided_by, reason, instance_id, fetched_at

-- name: SameCall :one
select approvals.tenant_id, approvals.id, approvals.agent_id, approvals.connector_id, approvals.tool, approvals.exposed_name, approvals.definition_hash, approvals.call_hash, approvals.sealed, approvals.state, approvals.asked_at, approvals.expires_at, approvals.decided_at, approvals.decided_by, approvals.reason, approvals.instance_id, approvals.fetched_at
from approvals
where tenant_id = $1 and call_hash = $2
  and (state in ('waiting', 'approved', 'executing') or (state = 'done' and fetched_at is null))

-- name: SaveApprovalResult :exec
insert into approval_results (tenant_id, id, sealed)
values ($1, $2, $3)

-- name: WaitingApprovals :many
select approvals.tenant_id, approvals.id, approvals.agent_id, approvals.connector_id, approvals.tool, approvals.exposed_name, approvals.definition_hash, approvals.call_hash, approvals.sealed, approvals.state, approvals.asked_at, approvals.expires_at, approvals.decided_at, approvals.decided_by, approvals.reason, approvals.instance_id, approvals.fetched_at
from approvals
where tenant_id = $1 and state = 'waiting' and expires_at > now()
  and ($2::uuid is null or id < $2)
order by id desc
limit $3

-- name: WithdrawApproval :execrows
update approvals
set state = 'lapsed'
where tenant_id = $1 and id = $2 and state = 'waiting'

-- name: AuditEvents :many

select id, at, actor_type, actor_id, actor_name, action, target, detail, request_id, ip, audit_chain.hash
from audit_events
left join audit_chain on audit_chain.tenant_id = $1 and audit_chain.event_id = audit_events.id
where audit_events.tenant_id = $1
  and ($2::uuid is null or id = $2)
  and ($3::uuid is null or id < $3)
  and ($4::uuid is null or id >= $4)
  and ($5::timestamptz is null or at >= $5)
  and ($6::timestamptz is null or at < $6)
  and ($7::text = '' or actor_name ilike $7)
  and ($8::text = '' or audit_events.target ilike $8)
  and ($9::text = '' or action = $9 or starts_with(action, $9 || '.'))
order by id desc
limit $10

-- name: AuditHead :one
select events, hash, checked_at, checked_events, checked_bad, checked_reason, checked_event, checked_last
from audit_heads
where tenant_id = $1

-- name: AuditLinks :many
select audit_chain.n, audit_chain.event_id, audit_chain.hash, (audit_events.id is not null)::boolean as present,
       audit_events.at, audit_events.actor_type, audit_events.actor_id, audit_events.actor_name, audit_events.action,
       audit_events.target, coalesce(audit_events.detail::text, '')::text as detail, audit_events.request_id, audit_events.ip
from audit_chain
left join audit_events on audit_events.tenant_id = $1 and audit_events.id = audit_chain.event_id
where audit_chain.tenant_id = $1 and audit_chain.n > $2 and audit_chain.n <= $3
order by audit_chain.n
limit $4

-- name: CountUnlinkedEvents :one
select count(*)
from audit_events
where audit_events.tenant_id = $1
  and not exists (select from audit_chain where audit_chain.tenant_id = $1 and audit_chain.event_id = audit_events.id)

-- name: SetAuditChecked :exec
update audit_heads
set checked_at = now(), checked_events = $1, checked_bad = $2, checked_reason = $3,
    checked_event = $4, checked_last = $5
where tenant_id = $6

-- name: ChangeTools :exec

update tools
set current_hash = new.current_hash,
    accepted_hash = new.accepted_hash,
    review = new.review,
    last_seen_at = now(),
    changed_at = now()
from (select unnest($3::text[]) as name,
             unnest($4::bytea[]) as current_hash,
             unnest($5::bytea[]) as accepted_hash,
             unnest($6::text[]) as review) new
where tools.tenant_id = $1 and tools.connector_id = $2 and tools.name = new.name

-- name: EndClaimedRun :one
with locked as materialized (
    select connectors.id
    from connectors
    where connectors.tenant_id = $1 and connectors.id = $11
    for no key update of connectors
), held as materialized (
    select clock.connector_id, clock.run_id, clock.checks, clock.checked_at
    from connector_clock clock
    join locked on locked.id = clock.connector_id
    where clock.tenant_id = $1 and clock.claimed_by = $3::uuid and clock.claimed_at = $12::timestamptz
    for no key update of clock
), closed as (
    update sync_runs
    set repeats = held.checks, repeated_at = held.checked_at
    from held
    where sync_runs.tenant_id = $1 and sync_runs.id = held.run_id and held.checks > 0
)
insert into sync_runs (tenant_id, id, connector_id, trigger, state, instance_id, queued_at, started_at, finished_at,
                       tools_total, tools_added, tools_changed, tools_removed, tools_quarantined, protocol_version)
select $1, $2, held.connector_id, 'schedule', 'ok', $3::uuid, $4::timestamptz, $4::timestamptz, now(),
       $5, $6, $7, $8, $9, $10
from held
returning sync_runs.tenant_id, sync_runs.id, sync_runs.connector_id, sync_runs.agent_id, sync_runs.trigger, sync_runs.state, sync_runs.instance_id, sync_runs.queued_at, sync_runs.started_at, sync_runs.finished_at, sync_runs.tools_total, sync_runs.tools_added, sync_runs.tools_changed, sync_runs.tools_removed, sync_runs.tools_quarantined, sync_runs.protocol_version, sync_runs.error_code, sync_runs.error_message, sync_runs.repeats, sync_runs.repeated_at, sync_runs.sweep_id

-- name: AgentsGranted :many
select agents.slug, agents.name
from agent_grants
join agents on agents.tenant_id = agent_grants.tenant_id and agents.id = agent_grants.agent_id and agents.enabled
where agent_grants.tenant_id = $1 and agent_grants.connector_id = $2
  and (agent_grants.all_tools or $3::text = any(agent_grants.tools))
order by agents.name, agents.id
limit $4

-- name: ApprovalsAbout :many
select approvals.id, agents.slug as agent_slug, agents.name as agent_name, connectors.slug as connector_slug, connectors.name as connector_name,
       tools.accepted_hash, coalesce(definition.title, '')::text as title,
       (case when length(definition.raw) <= 65536 then definition.raw end)::bytea as raw
from approvals
join agents on agents.tenant_id = approvals.tenant_id and agents.id = approvals.agent_id
join connectors on connectors.tenant_id = approvals.tenant_id and connectors.id = approvals.connector_id
left join tools on tools.tenant_id = approvals.tenant_id and tools.connector_id = approvals.connector_id and tools.name = approvals.tool
left join tool_definitions definition on definition.tenant_id = approvals.tenant_id and definition.hash = approvals.definition_hash
where approvals.tenant_id = $1 and approvals.id = any($2::uuid[])
order by approvals.id

-- name: CallCounts :many
select counted.agent_id::uuid as agent_id, counted.connector_id, counted.tool,
       count(*) as calls, count(*) filter (where counted.status = 'denied') as denied
from unnest($1::uuid[]) agent (id)
cross join lateral (
    select last.agent_id, last.connector_id, last.tool, last.status
    from tool_calls last
    where last.tenant_id = $2 and last.agent_id = agent.id
    order by last.id desc
    limit $3
) counted
where counted.status <> 'pending_approval' and counted.tool = any($4::text[])
group by counted.agent_id, counted.connector_id, counted.tool
order by counted.agent_id, counted.connector_id, counted.tool

-- name: ToolChoices :many

select tools.name, tools.review, tools.enabled, (tools.removed_at is not null)::boolean as removed,
       definition.title, left(definition.description, 300)::text as description,
       (case when length(definition.raw) <= 8192 then definition.raw end)::bytea as raw
from tools
join tool_definitions definition on definition.tenant_id = tools.tenant_id and definition.hash = tools.current_hash
where tools.tenant_id = $1 and tools.connector_id = $2
  and (tools.removed_at is null or tools.name = any($3::text[]))
order by tools.name
limit $4

-- name: Clock :one
select due_at, failures, failing_since, checked_at, ok_at
from connector_clock
where tenant_id = $1 and connector_id = $2

-- name: ConnectorHealth :many
select past.hour, past.ok, past.failed, past.ms_sum, past.ms_max
from connector_health past
where past.tenant_id = $1 and past.connector_id = $2 and past.hour >= $3
union all
select clock.hour, clock.hour_ok as ok, clock.hour_failed as failed, clock.hour_ms as ms_sum, clock.hour_max_ms as ms_max
from connector_clock clock
where clock.tenant_id = $1 and clock.connector_id = $2 and clock.hour >= $3 and clock.hour_ok + clock.hour_failed > 0
order by hour

-- name: ConnectorItems :many
select kind, key, raw
from connector_items
where tenant_id = $1 and connector_id = $2
order by kind, position

-- name: ForgetItems :exec
delete from connector_items
where tenant_id = $1 and connector_id = $2

-- name: KeepItems :exec
insert into connector_items (tenant_id, connector_id, kind, position, key, raw)
select $1, $2, new.kind, new.position, new.key, new.raw
from (select unnest($3::text[]) as kind,
             unnest($4::integer[]) as position,
             unnest($5::text[]) as key,
             unnest($6::bytea[]) as raw) new

-- name: StampItems :execrows
update connectors
set items_hash = $1
where tenant_id = $2 and id = $3

-- name: ConnectorBase :one
select tools_hash, server_instructions, accepted_instructions, instructions_review
from connectors
where tenant_id = $1 and id = $2

-- name: ConnectorByRef :one
select connectors.tenant_id, connectors.id, connectors.slug, connectors.name, connectors.description, connectors.transport, connectors.url, connectors.headers, connectors.credential_mode, connectors.auth_type, connectors.auth_header, connectors.timeout_ms, connectors.retry_attempts, connectors.enabled, connectors.sync_interval_s, connectors.tool_changes, connectors.version, connectors.auth_behaviour, connectors.tool_count, connectors.tools_hash, connectors.tools_last_synced_at, connectors.next_sync_at, connectors.last_error_code, connectors.last_error_message, connectors.last_error_at, connectors.server_name, connectors.server_version, connectors.server_title, connectors.server_protocol, connectors.server_instructions, connectors.status, connectors.created_at, connectors.updated_at, connectors.oauth, connectors.command, connectors.args, connectors.cwd, connectors.era, connectors.calls_per_minute, connectors.server_capabilities, connectors.items_hash, connectors.max_definition_age_s, connectors.listen, connectors.accepted_instructions, connectors.instructions_review,
       coalesce(running.id, '00000000-0000-0000-0000-000000000000')::uuid as running_id,
       array(select tools.name
             from tools
             where tools.tenant_id = connectors.tenant_id and tools.connector_id = connectors.id and tools.removed_at is null
             order by tools.name)::text[] as tool_names,
       coalesce((select connector_envs.names
                 from connector_envs
                 where connector_envs.tenant_id = connectors.tenant_id and connector_envs.connector_id = connectors.id), '{}')::text[] as env_names,
       clock.due_at, clock.failures, clock.failing_since, clock.checked_at, clock.ok_at,
       held.stored, held.ended, held.lapses_at
from connectors
join connector_clock clock on clock.tenant_id = connectors.tenant_id and clock.connector_id = connectors.id
left join sync_runs running
    on running.tenant_id = connectors.tenant_id and running.connector_id = connectors.id and running.state = 'running'
cross join lateral (
    select count(*)::integer as stored,
           (count(*) filter (where credentials.status in ('expired', 'revoked')))::integer as ended,
           coalesce(min(case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                             then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                             else credentials.expires_at end)
                    filter (where credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed')), 'epoch')::timestamptz as lapses_at
    from credentials
    where credentials.tenant_id = connectors.tenant_id and credentials.connector_id = connectors.id
      and (credentials.agent_id is null) = (connectors.credential_mode = 'shared')
) held
where connectors.tenant_id = $1
  and connectors.id = coalesce(
      $2::uuid,
      (select named.id from connectors named where named.tenant_id = $1 and named.slug = $3::text))

-- name: ConnectorStats :many
select status, count(*) as connectors, coalesce(sum(tool_count), 0)::bigint as tools
from connectors
where tenant_id = $1
group by status

-- name: ConnectorsAt :many
select slug, name, url
from connectors
where tenant_id = $1 and lower(rtrim(split_part(url, '?', 1), '/')) = any($2::text[])
order by name, id

-- name: ConnectorsByName :many
select connectors.tenant_id, connectors.id, connectors.slug, connectors.name, connectors.description, connectors.transport, connectors.url, connectors.headers, connectors.credential_mode, connectors.auth_type, connectors.auth_header, connectors.timeout_ms, connectors.retry_attempts, connectors.enabled, connectors.sync_interval_s, connectors.tool_changes, connectors.version, connectors.auth_behaviour, connectors.tool_count, connectors.tools_hash, connectors.tools_last_synced_at, connectors.next_sync_at, connectors.last_error_code, connectors.last_error_message, connectors.last_error_at, connectors.server_name, connectors.server_version, connectors.server_title, connectors.server_protocol, connectors.server_instructions, connectors.status, connectors.created_at, connectors.updated_at, connectors.oauth, connectors.command, connectors.args, connectors.cwd, connectors.era, connectors.calls_per_minute, connectors.server_capabilities, connectors.items_hash, connectors.max_definition_age_s, connectors.listen, connectors.accepted_instructions, connectors.instructions_review,
       coalesce(running.id, '00000000-0000-0000-0000-000000000000')::uuid as running_id,
       array(select tools.name
             from tools
             where tools.tenant_id = connectors.tenant_id and tools.connector_id = connectors.id and tools.removed_at is null
             order by tools.name)::text[] as tool_names,
       coalesce((select connector_envs.names
                 from connector_envs
                 where connector_envs.tenant_id = connectors.tenant_id and connector_envs.connector_id = connectors.id), '{}')::text[] as env_names,
       clock.due_at, clock.failures, clock.failing_since, clock.checked_at, clock.ok_at,
       held.stored, held.ended, held.lapses_at
from connectors
join connector_clock clock on clock.tenant_id = connectors.tenant_id and clock.connector_id = connectors.id
left join sync_runs running
    on running.tenant_id = connectors.tenant_id and running.connector_id = connectors.id and running.state = 'running'
cross join lateral (
    select count(*)::integer as stored,
           (count(*) filter (where credentials.status in ('expired', 'revoked')))::integer as ended,
           coalesce(min(case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                             then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                             else credentials.expires_at end)
                    filter (where credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed')), 'epoch')::timestamptz as lapses_at
    from credentials
    where credentials.tenant_id = connectors.tenant_id and credentials.connector_id = connectors.id
      and (credentials.agent_id is null) = (connectors.credential_mode = 'shared')
) held
where connectors.tenant_id = $1
  and ($2::text = '' or connectors.status = $2)
  and ($3::text = '' or connectors.name ilike $3 or connectors.slug ilike $3 or connectors.url ilike $3)
  and (cardinality($4::uuid[]) = 0 or connectors.id = any($4))
  and ($5::text is null
       or (lower(connectors.name), connectors.id) > (lower($5), $6::uuid))
order by lower(connectors.name), connectors.id
limit $7

-- name: CreateConnector :exec
insert into connectors (tenant_id, id, slug, name, description, transport, url, command, args, cwd, headers, credential_mode, auth_type, auth_header,
                        timeout_ms, retry_attempts, enabled, sync_interval_s, tool_changes, listen, max_definition_age_s, oauth, calls_per_minute)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
        $15, $16, $17, $18, $19, $20, $21, $22, $23)

-- name: DeleteConnector :execrows
delete from connectors
where tenant_id = $1 and id = $2

-- name: DeleteEnvironment :execrows
delete from connector_envs
where tenant_id = $1 and connector_id = $2

-- name: EnabledConnectorIDs :many
select id
from connectors
where tenant_id = $1 and enabled
order by id

-- name: Environment :one
select connector_envs.tenant_id, connector_envs.connector_id, connector_envs.program, connector_envs.names, connector_envs.sealed, connector_envs.created_at, connector_envs.updated_at
from connector_envs
where tenant_id = $1 and connector_id = $2

-- name: SetAuthBehaviour :exec
update connectors
set auth_behaviour = $1
where tenant_id = $2 and id = $3

-- name: SetEnvironment :exec
insert into connector_envs (tenant_id, connector_id, program, names, sealed)
values ($1, $2, $3, $4, $5)
on conflict on constraint connector_envs_pkey do update
set program = excluded.program,
    names = excluded.names,
    sealed = excluded.sealed,
    updated_at = now()

-- name: UpdateConnector :execrows
update connectors
set slug = $1,
    name = $2,
    description = $3,
    transport = $4,
    url = $5,
    command = $6,
    args = $7,
    cwd = $8,
    era = case when (transport, url, command, args) = ($4, $5, $6, $7) then era else '' end,
    headers = $9,
    credential_mode = $10,
    auth_type = $11,
    auth_header = $12,
    timeout_ms = $13,
    retry_attempts = $14,
    enabled = $15,
    sync_interval_s = $16,
    tool_changes = $17,
    listen = $18,
    max_definition_age_s = $19,
    oauth = $20,
    calls_per_minute = $21,
    version = version + 1,
    updated_at = now()
where tenant_id = $22 and id = $23 and ($24::integer = 0 or version = $24)

-- name: AgentCredentials :many
select connectors.slug, connectors.name, connectors.auth_type, coalesce(
           case when credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed') and credentials.expires_at <= now()
                 and (credentials.grant_meta ->> 'refreshable')::boolean is not true then 'expired' else credentials.status end, '')::text as status
from connectors
left join credentials on credentials.tenant_id = connectors.tenant_id
    and credentials.connector_id = connectors.id and credentials.agent_id = $1::uuid
where connectors.tenant_id = $2 and connectors.credential_mode = 'per_agent' and connectors.auth_type <> 'none'
order by lower(connectors.name), connectors.id
limit $3

-- name: Credentials :many
select id, connector_id, agent_id, type, origin,
       (case when type = 'oauth2' and status in ('active', 'refresh_failed') and expires_at <= now()
             and (grant_meta ->> 'refreshable')::boolean is not true then 'expired' else status end)::text as status, account, scopes, expires_at, refreshed_at, last_used_at, error, version,
       created_at, updated_at
from credentials
where tenant_id = $1 and connector_id = $2
  and ($3::uuid is null or id > $3)
order by id
limit $4

-- name: DeleteCredential :execrows
delete from credentials
where tenant_id = $1 and connector_id = $2 and agent_id is not distinct from $3

-- name: DeleteCredentials :execrows
delete from credentials
where tenant_id = $1 and connector_id = $2

-- name: MarkCredentialUsed :exec
update credentials
set last_used_at = now()
where tenant_id = $1 and id = $2
  and (last_used_at is null or last_used_at < now() - interval '1 minute')

-- name: RenewMachineTokens :exec
update credentials
set status = 'active',
    error = '',
    expires_at = case when expires_at is null then null else now() end,
    grant_meta = grant_meta - 'expiry_assumed' - 'wanted_scopes' - 'step_ups',
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = version + 1,
    updated_at = now()
where tenant_id = $1 and connector_id = $2 and type in ('client_credentials', 'private_key_jwt')

-- name: SealedCredential :one
select credentials.tenant_id, credentials.id, credentials.connector_id, credentials.agent_id, credentials.type, credentials.origin, credentials.sealed, credentials.status, credentials.account, credentials.scopes, credentials.expires_at, credentials.refreshed_at, credentials.last_used_at, credentials.error, credentials.version, credentials.created_at, credentials.updated_at, credentials.grant_meta, credentials.lease_id, credentials.lease_until, credentials.retry_at
from credentials
where tenant_id = $1 and connector_id = $2 and agent_id is not distinct from $3

-- name: SealedCredentialUsedLast :one
select credentials.tenant_id, credentials.id, credentials.connector_id, credentials.agent_id, credentials.type, credentials.origin, credentials.sealed, credentials.status, credentials.account, credentials.scopes, credentials.expires_at, credentials.refreshed_at, credentials.last_used_at, credentials.error, credentials.version, credentials.created_at, credentials.updated_at, credentials.grant_meta, credentials.lease_id, credentials.lease_until, credentials.retry_at
from credentials
where tenant_id = $1 and connector_id = $2 and agent_id is not null
  and status in ('active', 'refresh_failed')
order by last_used_at desc nulls last, updated_at desc, id
limit 1

-- name: SetCredential :exec
insert into credentials (tenant_id, id, connector_id, agent_id, type, origin, sealed, account)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict on constraint credentials_owner_key do update
set type = excluded.type,
    origin = excluded.origin,
    sealed = excluded.sealed,
    account = excluded.account,
    status = 'active',
    scopes = '{}',
    expires_at = null,
    refreshed_at = null,
    last_used_at = null,
    error = '',
    grant_meta = '{}',
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = credentials.version + 1,
    updated_at = now()

-- name: Dependents :one

select (select count(*)
        from agent_grants
        where agent_grants.tenant_id = $1 and agent_grants.connector_id = $2)::integer as agents,
       array(select agents.name
             from agent_grants
             join agents on agents.tenant_id = agent_grants.tenant_id and agents.id = agent_grants.agent_id
             where agent_grants.tenant_id = $1 and agent_grants.connector_id = $2
             order by agents.name, agents.id
             limit 3)::text[] as names,
       (select count(*)
        from (select tool_calls.id
              from tool_calls
              where tool_calls.tenant_id = $1 and tool_calls.connector_id = $2::uuid and tool_calls.id >= $3::uuid
              limit $4) counted)::integer as calls,
       (select count(*)
        from approvals
        where approvals.tenant_id = $1 and approvals.connector_id = $2
          and approvals.state = 'waiting' and approvals.expires_at > now())::integer as approvals,
       (select count(*)
        from credentials
        where credentials.tenant_id = $1 and credentials.connector_id = $2)::integer as accounts

-- name: Find :many
select found.kind, found.slug, found.name, found.of_slug, found.of_name
from (
    (select 'connector'::text as kind, 1 as nth, connectors.slug, connectors.name, ''::text as of_slug, ''::text as of_name,
            connectors.name ilike $1::text as begins
     from connectors
     where connectors.tenant_id = $2
       and connectors.name || ' ' || connectors.slug || ' ' || connectors.url || ' ' || $3::text ilike all($4::text[])
     order by connectors.name ilike $1 desc, lower(connectors.name), connectors.slug
     limit $5)
    union all
    (select 'agent', 2, agents.slug, agents.name, '', '', agents.name ilike $1
     from agents
     where agents.tenant_id = $2 and agents.name || ' ' || agents.slug ilike all($4)
     order by agents.name ilike $1 desc, lower(agents.name), agents.slug
     limit $5)
    union all
    (select 'tool', 3, tools.name, tools.name, connectors.slug, connectors.name, tools.name ilike $1
     from tools
     join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.connector_id
     where tools.tenant_id = $2 and tools.removed_at is null
       and tools.name || ' ' || tools.alias || ' ' || connectors.name ilike all($4)
     order by tools.name ilike $1 desc, lower(tools.name), connectors.slug
     limit $5)
) found
order by found.nth, found.begins desc, lower(found.name), found.slug, found.of_slug

-- name: DropMail :exec
delete from gateway_mail
where tenant_id = $1 and agent_id = $2 and box = $3

-- name: Mail :many
select id, agent_id, box, sealed
from gateway_mail
where tenant_id = $1 and agent_id = $2 and box = $3 and expires_at > now()
  and ($4::uuid is null or id > $4)
order by id
limit $5

-- name: PutMail :execrows

insert into gateway_mail (tenant_id, id, agent_id, box, sealed, expires_at)
select $1, $2::uuid, $3, $4::text, $5::bytea, $6::timestamptz
from (
    select count(*) as number, coalesce(sum(length(there.sealed)), 0) as bytes
    from gateway_mail there
    where there.tenant_id = $1 and there.agent_id = $3 and there.expires_at > now()
) lies
where $7::boolean or lies.number < $8::bigint and lies.bytes < $9::bigint

-- name: TakeMail :many
delete from gateway_mail
where tenant_id = $1 and agent_id = $2 and box = $3 and expires_at > now()
returning id, agent_id, box, sealed

-- name: CallHours :many

select hour, sum(ok)::bigint as ok, sum(failed)::bigint as failed, sum(other)::bigint as other,
       array_agg(bucket order by bucket)::smallint[] as buckets, array_agg(ok + failed order by bucket)::integer[] as counts
from call_hours
where tenant_id = $1 and hour >= $2
group by hour
order by hour

-- name: SyncHours :many
select past.hour::timestamptz as hour, sum(past.ok)::bigint as ok, sum(past.failed)::bigint as failed, coalesce(max(past.tools), -1)::integer as tools
from (
    select sync_hours.hour, sync_hours.ok, sync_hours.failed, sync_hours.tools
    from sync_hours
    where sync_hours.tenant_id = $1 and sync_hours.hour >= $2
    union all
    select connector_health.hour, connector_health.ok, connector_health.failed, null as tools
    from connector_health
    where connector_health.tenant_id = $1 and connector_health.hour >= $2 and not connector_health.rolled
    union all
    select connector_clock.hour, connector_clock.hour_ok as ok, connector_clock.hour_failed as failed, null as tools
    from connector_clock
    where connector_clock.tenant_id = $1 and connector_clock.hour >= $2 and connector_clock.hour_ok + connector_clock.hour_failed > 0
) past
group by past.hour
order by past.hour

-- name: Invitations :many
select id, email, role, invited_by_name, created_at, sent_at, sends, expires_at, accepted_at, revoked_at
from invitations
where tenant_id = $1
  and accepted_at is null
  and revoked_at is null
  and ($2::uuid is null or id < $2)
order by id desc
limit $3

-- name: Invite :one
with swept as (
    delete from invitations
    where invitations.tenant_id = $1
      and coalesce(invitations.accepted_at, invitations.revoked_at) < now() - interval '90 days'
)
insert into invitations (tenant_id, id, email, role, token_hash, invited_by, invited_by_name, expires_at)
select $1, $2::uuid, $3::text, $4, $5::bytea, $6::uuid, $7::text, $8::timestamptz
where not exists (
    select from memberships
    join users on users.id = memberships.user_id
    where memberships.tenant_id = $1 and users.email = $3)
returning id, email, role, invited_by_name, created_at, sent_at, sends, expires_at, accepted_at, revoked_at

-- name: RevokeInvitation :one
update invitations
set revoked_at = now()
where tenant_id = $1
  and id = $2
  and accepted_at is null
  and revoked_at is null
returning id, email, role, invited_by_name, created_at, sent_at, sends, expires_at, accepted_at, revoked_at

-- name: RevokeInvitationsBy :exec
update invitations
set revoked_at = now()
where tenant_id = $1
  and invited_by = $2::uuid
  and accepted_at is null
  and revoked_at is null

-- name: RevokeInvitationsTo :exec
update invitations
set revoked_at = now()
where tenant_id = $1
  and email = $2
  and accepted_at is null
  and revoked_at is null

-- name: SendInvitation :one
update invitations
set token_hash = $1,
    expires_at = $2,
    invited_by = $3,
    invited_by_name = $4,
    sent_at = now(),
    sends = sends + 1
where tenant_id = $5
  and id = $6
  and accepted_at is null
  and revoked_at is null
returning id, email, role, invited_by_name, created_at, sent_at, sends, expires_at, accepted_at, revoked_at

-- name: KeepListening :execrows
update upstream_listeners
set state = 'listening',
    since = now(),
    reason = '',
    credential_id = $1,
    credential_version = $2
where tenant_id = $3 and connector_id = $4 and instance_id = $5

-- name: ListenAgain :exec
update upstream_listeners
set state = 'waiting',
    since = now(),
    due_at = now(),
    reason = '',
    failures = 0,
    vain = 0
where tenant_id = $1 and connector_id = $2 and instance_id is null

-- name: Listenings :many

select upstream_listeners.tenant_id, upstream_listeners.connector_id, upstream_listeners.instance_id, upstream_listeners.state, upstream_listeners.since, upstream_listeners.due_at, upstream_listeners.reason, upstream_listeners.version, upstream_listeners.credential_id, upstream_listeners.credential_version, upstream_listeners.failures, upstream_listeners.vain, upstream_listeners.notified, upstream_listeners.last_notified_at
from upstream_listeners
where tenant_id = $1 and connector_id = any($2::uuid[])

-- name: ListsHash :one
select (coalesce(tools_hash, '') || coalesce(items_hash, ''))::bytea as lists_hash
from connectors
where tenant_id = $1 and id = $2

-- name: NoteChanged :exec
update upstream_listeners
set notified = notified + $1,
    last_notified_at = $2,
    vain = $3
where tenant_id = $4 and connector_id = $5 and instance_id = $6

-- name: PassOn :execrows
select pg_notify('patchbay_changes', $1::text || ' ' || tenant_id || ' ' || id)
from connectors
where tenant_id = $2 and id = $3

-- name: StopListening :exec
update upstream_listeners
set instance_id = null,
    state = $1,
    since = now(),
    due_at = now() + make_interval(secs => $2::double precision),
    reason = $3,
    failures = $4
where tenant_id = $5 and connector_id = $6 and instance_id = $7

-- name: AddMembership :exec
insert into memberships (tenant_id, user_id, role)
values ($1, $2, $3)

-- name: AddNewUser :one
insert into users (id, email, name, password_hash)
values ($1, $2, $3, $4)
on conflict (email) do nothing
returning users.id

-- name: AddUser :one
insert into users (id, email, name, password_hash)
values ($1, $2, $3, $4)
on conflict (email) do update set password_hash = coalesce(users.password_hash, excluded.password_hash)
returning users.id

-- name: LockOwners :many
select user_id
from memberships
where tenant_id = $1 and role = 'owner'
order by user_id
for update

-- name: Member :one
select users.id, users.email, users.name, users.signed_in_at, memberships.role, memberships.created_at, memberships.seen_at
from memberships
join users on users.id = memberships.user_id
where memberships.tenant_id = $1 and memberships.user_id = $2

-- name: Members :many
select users.id, users.email, users.name, users.signed_in_at, memberships.role, memberships.created_at, memberships.seen_at
from memberships
join users on users.id = memberships.user_id
where memberships.tenant_id = $1
  and ($2::text is null or users.email > $2)
order by users.email
limit $3

-- name: RemoveMember :execrows
delete from memberships
where tenant_id = $1 and user_id = $2

-- name: SetMemberRole :execrows
update memberships
set role = $1
where tenant_id = $2 and user_id = $3

-- name: NeededApprovals :many

select approvals.id, approvals.asked_at, approvals.expires_at, approvals.tool, agents.name as agent, connectors.name as connector,
       count(*) over () as total
from approvals
join agents on agents.tenant_id = approvals.tenant_id and agents.id = approvals.agent_id
join connectors on connectors.tenant_id = approvals.tenant_id and connectors.id = approvals.connector_id
where approvals.tenant_id = $1 and approvals.state = 'waiting' and approvals.expires_at > now()
order by approvals.id desc
limit $2

-- name: NeededRenewals :many
select connectors.slug as connector_slug, connectors.name as connector, coalesce(agents.slug, '')::text as agent_slug,
       coalesce(agents.name, '')::text as agent, lapses.at::timestamptz as lapses_at, count(*) over () as total
from credentials
join connectors on connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id
left join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id
cross join lateral (
    select case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                else credentials.expires_at end as at
) lapses
where credentials.tenant_id = $1 and credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed')
  and connectors.enabled
  and lapses.at < now() + make_interval(secs => $2::double precision)
order by lapses.at, credentials.id
limit $3

-- name: NeededReviews :many
select tool_changes.id, connectors.slug, connectors.name as connector, tool_changes.tool, tool_changes.seen_at, tool_changes.risk,
       (tool_changes.before_hash is null)::boolean as is_new, count(*) over () as total
from tool_changes
join connectors on connectors.tenant_id = tool_changes.tenant_id and connectors.id = tool_changes.connector_id
where tool_changes.tenant_id = $1 and tool_changes.state = 'waiting'
order by tool_changes.id desc
limit $2

-- name: NeedyConnectors :many
with needy as (
    select connectors.id, connectors.slug, connectors.name, connectors.auth_type, connectors.credential_mode,
           connectors.tools_last_synced_at is not null as synced, coalesce(connectors.last_error_message, '') as reason,
           coalesce(clock.failing_since, connectors.last_error_at, connectors.updated_at) as since,
           connectors.status = 'needs_auth' or coalesce(held.ended, 0) > 0
               or coalesce(held.stored, 0) = 0 and connectors.auth_type in ('bearer', 'api_key', 'basic', 'oauth2') as needs_auth,
           connectors.status = 'error' as failing
    from connectors
    join connector_clock clock on clock.tenant_id = connectors.tenant_id and clock.connector_id = connectors.id
    left join (
        select credentials.connector_id, credentials.agent_id is null as shared, count(*) as stored,
               count(*) filter (where credentials.status in ('expired', 'revoked')) as ended
        from credentials
        where credentials.tenant_id = $2
        group by credentials.connector_id, credentials.agent_id is null
    ) held on held.connector_id = connectors.id and held.shared = (connectors.credential_mode = 'shared')
    where connectors.tenant_id = $2 and connectors.enabled
)
select listed.slug, listed.name, listed.auth_type, listed.credential_mode, listed.synced::boolean as synced, listed.reason::text as reason,
       listed.since::timestamptz as since, listed.needs_auth::boolean as needs_auth, listed.total
from (
    select needy.id, needy.slug, needy.name, needy.auth_type, needy.credential_mode, needy.synced, needy.reason, needy.since, needy.needs_auth,
           count(*) over (partition by needy.needs_auth) as total,
           row_number() over (partition by needy.needs_auth order by needy.since desc, needy.id desc) as nth
    from needy
    where needy.needs_auth or needy.failing
) listed
where listed.nth <= $1::integer
order by listed.needs_auth desc, listed.nth

-- name: AccountSubject :one
select connectors.id as connector_id, connectors.name as connector, connectors.slug as connector_slug,
       coalesce(agents.name, '')::text as agent, coalesce(agents.slug, '')::text as agent_slug
from credentials
join connectors on connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id
left join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id
where credentials.tenant_id = $1 and credentials.id = $2

-- name: ApprovalSubject :one
select agents.name as agent, agents.slug as agent_slug, connectors.name as connector, connectors.slug as connector_slug
from agents
join connectors on connectors.tenant_id = agents.tenant_id and connectors.id = $1
where agents.tenant_id = $2 and agents.id = $3::uuid

-- name: CountNews :one
select (
    select count(*)
    from approvals
    where approvals.tenant_id = $1 and approvals.state = 'waiting' and approvals.expires_at > now()
) as approvals, (
    select count(*)
    from tool_changes
    where tool_changes.tenant_id = $1 and tool_changes.state = 'waiting'
) as changes, (
    select count(*)
    from (
        select notices.id, notices.at
        from notices
        where notices.tenant_id = $1
        order by notices.id desc
        limit $2
    ) newest
    join memberships on memberships.tenant_id = $1 and memberships.user_id = $3::uuid and memberships.created_at <= newest.at
    where not exists (
        select from notice_reads
        where notice_reads.tenant_id = $1 and notice_reads.notice_id = newest.id and notice_reads.user_id = memberships.user_id)
) as notices

-- name: DropOldestNotices :exec
delete from notices
where notices.tenant_id = $1
  and notices.id in (
      select old.id
      from notices old
      where old.tenant_id = $1
        and old.id <= (
            select edge.id
            from notices edge
            where edge.tenant_id = $1
            order by edge.id desc
            offset $2::integer
            limit 1)
      order by old.id
      limit 100
      for update skip locked)

-- name: InsertNotice :exec
insert into notices (tenant_id, id, kind, title, body, link, subject_key, data)
values ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: MergeNotice :execrows

update notices
set times = times + 1,
    title = $1,
    body = $2,
    link = $3,
    data = $4
where notices.tenant_id = $5
  and notices.id = (
      select told.id
      from notices told
      where told.tenant_id = $5 and told.subject_key = $6 and told.kind = $7 and told.subject_key <> ''
        and told.at > now() - interval '1 hour'
        and not exists (
            select from notice_reads
            where notice_reads.tenant_id = $5 and notice_reads.notice_id = told.id)
      order by told.at desc, told.id desc
      limit 1)

-- name: Notices :many
select id, at, kind, title, body, link, data, times, (
    exists (
        select from notice_reads
        where notice_reads.tenant_id = $1 and notice_reads.notice_id = notices.id and notice_reads.user_id = $2::uuid)
    or not exists (
        select from memberships
        where memberships.tenant_id = $1 and memberships.user_id = $2::uuid and memberships.created_at <= notices.at)
)::boolean as is_read
from notices
where tenant_id = $1
  and ($3::uuid is null or id < $3)
order by id desc
limit $4

-- name: ReadNotices :execrows
insert into notice_reads (tenant_id, notice_id, user_id)
select $1, notices.id, memberships.user_id
from notices
join memberships on memberships.tenant_id = notices.tenant_id and memberships.user_id = $2
where notices.tenant_id = $1 and notices.at >= memberships.created_at
  and ($3::uuid[] is null or notices.id = any($3::uuid[]))
order by notices.id
on conflict do nothing

-- name: BindClientSecret :execrows
update connector_clients
set issuer = $1,
    sealed = $2,
    updated_at = now()
where tenant_id = $3 and connector_id = $4 and issuer = '' and client_id = $5 and origin = $6
  and updated_at = $7

-- name: ClientSecret :one
select connector_clients.tenant_id, connector_clients.connector_id, connector_clients.client_id, connector_clients.origin, connector_clients.issuer, connector_clients.sealed, connector_clients.created_at, connector_clients.updated_at
from connector_clients
where tenant_id = $1 and connector_id = $2

-- name: DelayRefresh :execrows
update credentials
set status = 'refresh_failed',
    error = $1,
    grant_meta = case when $2::boolean then grant_meta || '{"lost_answer": true}' else grant_meta end,
    retry_at = now() + make_interval(secs => $3::double precision),
    lease_id = null,
    lease_until = null,
    updated_at = now()
where tenant_id = $4 and id = $5 and version = $6 and lease_id = $7::uuid

-- name: DeleteClientSecret :execrows
delete from connector_clients
where tenant_id = $1 and connector_id = $2

-- name: DeleteFlows :exec
delete from oauth_flows
where tenant_id = $1 and connector_id = $2

-- name: EndGrant :execrows
with ended as (
    update credentials
    set status = 'revoked',
        error = $2,
        grant_meta = coalesce($3::jsonb, grant_meta),
        lease_id = null,
        lease_until = null,
        retry_at = null,
        version = version + 1,
        updated_at = now()
    where credentials.tenant_id = $4 and credentials.id = $5 and credentials.version = $6
      and credentials.status in ('active', 'refresh_failed')
      and ($7::uuid is null or credentials.lease_id = $7)
    returning credentials.tenant_id, credentials.id, credentials.connector_id, credentials.agent_id
), marked as (
    update connectors
    set last_error_code = 'credential_required',
        last_error_message = $2,
        last_error_at = now()
    from ended
    where connectors.tenant_id = $4 and connectors.id = ended.connector_id and ended.agent_id is null
)
insert into audit_events (tenant_id, id, actor_type, actor_name, action, target, detail)
select ended.tenant_id, $1, 'system', 'Patchbay', 'credential.revoked', connectors.slug,
       jsonb_strip_nulls(jsonb_build_object('connector_id', ended.connector_id, 'agent_id', ended.agent_id, 'cause', $2::text))
from ended
join connectors on connectors.tenant_id = ended.tenant_id and connectors.id = ended.connector_id

-- name: ExpiringCredentials :many
select connectors.slug as connector_slug, connectors.name as connector_name,
       coalesce(agents.slug, '')::text as agent_slug, coalesce(agents.name, '')::text as agent_name,
       lapses.at::timestamptz as lapses_at
from credentials
join connectors on connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id
left join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id
cross join lateral (
    select case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                else credentials.expires_at end as at
) lapses
where credentials.tenant_id = $1 and credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed')
  and connectors.enabled
  and lapses.at < now() + make_interval(secs => $2::double precision)
order by lapses.at, credentials.id
limit $3

-- name: ForgetRegistration :exec
delete from client_registrations
where tenant_id = $1 and issuer = $2 and redirect_uri = $3 and client_id = $4

-- name: HoldConnector :exec
select connectors.id
from connectors
where connectors.tenant_id = $1 and connectors.id = $2
for no key update

-- name: LeaseGrant :one
update credentials
set grant_meta = case when lease_until is null then grant_meta else grant_meta || '{"lost_answer": true}' end,
    lease_id = $1::uuid,
    lease_until = now() + make_interval(secs => $2::double precision)
where tenant_id = $3 and id = $4 and version = $5 and status in ('active', 'refresh_failed')
  and (lease_until is null or lease_until < now())
  and (retry_at is null or retry_at <= now())
returning coalesce((grant_meta ->> 'lost_answer')::boolean, false)::boolean as lost

-- name: Registration :one
select client_registrations.tenant_id, client_registrations.issuer, client_registrations.redirect_uri, client_registrations.client_id, client_registrations.source, client_registrations.auth_method, client_registrations.sealed, client_registrations.created_at, client_registrations.secret_expires_at
from client_registrations
where tenant_id = $1 and issuer = $2 and redirect_uri = $3
  and (secret_expires_at is null or secret_expires_at > now())

-- name: SaveConnectLink :exec
with swept as (
    delete from connect_links
    where connect_links.tenant_id = $1
      and (connect_links.expires_at < now()
           or connect_links.token_hash in (
               select older.token_hash
               from connect_links older
               where older.tenant_id = $1 and older.connector_id = $3
                 and older.agent_id is not distinct from $4
                 and older.made_by -> 'type' = $5::jsonb -> 'type'
                 and older.made_by -> 'id' is not distinct from $5::jsonb -> 'id'
               order by older.created_at desc, older.token_hash
               offset 19))
)
insert into connect_links (tenant_id, token_hash, connector_id, agent_id, made_by, return_to, expires_at)
values ($1, $2, $3, $4, $5, $6, $7)

-- name: SaveFlow :exec
with swept as (
    delete from oauth_flows
    where oauth_flows.tenant_id = $1 and oauth_flows.expires_at < now()
)
insert into oauth_flows (tenant_id, id, state_hash, browser_hash, connector_id, agent_id, started_by, origin, metadata, client_id,
                         resource, scopes, redirect_uri, return_to, sealed)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
        $11, $12, $13, $14, $15)

-- name: SaveGrant :exec
insert into credentials (tenant_id, id, connector_id, agent_id, type, origin, sealed, account, scopes, expires_at, grant_meta)
values ($1, $2, $3, $4, 'oauth2', $5, $6, $7, $8, $9, $10)
on conflict on constraint credentials_owner_key do update
set type = excluded.type,
    origin = excluded.origin,
    sealed = excluded.sealed,
    account = excluded.account,
    status = 'active',
    scopes = excluded.scopes,
    expires_at = excluded.expires_at,
    grant_meta = excluded.grant_meta,
    refreshed_at = null,
    last_used_at = null,
    error = '',
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = credentials.version + 1,
    updated_at = now()

-- name: SaveRefreshed :execrows
update credentials
set sealed = $1,
    scopes = $2,
    expires_at = $3,
    grant_meta = $4,
    refreshed_at = now(),
    status = 'active',
    error = '',
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = version + 1,
    updated_at = now()
where tenant_id = $5 and id = $6 and version = $7 and lease_id = $8::uuid

-- name: SaveRegistration :exec
insert into client_registrations (tenant_id, issuer, redirect_uri, client_id, source, auth_method, sealed, secret_expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict on constraint client_registrations_pkey do update
set client_id = excluded.client_id,
    source = excluded.source,
    auth_method = excluded.auth_method,
    sealed = excluded.sealed,
    secret_expires_at = excluded.secret_expires_at,
    created_at = now()
where client_registrations.secret_expires_at <= now()

-- name: SetClientSecret :exec
insert into connector_clients (tenant_id, connector_id, client_id, origin, sealed)
values ($1, $2, $3, $4, $5)
on conflict on constraint connector_clients_pkey do update
set client_id = excluded.client_id,
    origin = excluded.origin,
    issuer = '',
    sealed = excluded.sealed,
    updated_at = now()

-- name: AgentOrder :many
select agents.tenant_id, agents.id, agents.slug, agents.name, agents.description, agents.approval, agents.enabled, agents.created_at, agents.updated_at, agents.name_limit, agents.calls_per_minute, ordered.key::text as key
from agents
cross join lateral (
    select case $1::text
               when 'state' then agents.enabled::integer::text
               when 'approval' then agents.approval
               when 'added' then to_char(agents.created_at at time zone 'UTC', 'YYYYMMDDHH24MISSUS')
               else ''
           end as key) ordered
where agents.tenant_id = $2
  and ($3::text is null
       or case when $4::boolean then ordered.key < $3 else ordered.key > $3 end
       or ordered.key = $3
          and case when $5::boolean
                   then (lower(agents.name), agents.id) < (lower($6::text), $7::uuid)
                   else (lower(agents.name), agents.id) > (lower($6::text), $7::uuid) end)
order by case when $4::boolean then ordered.key end desc,
         case when not $4::boolean then ordered.key end,
         case when $5::boolean then lower(agents.name) end desc,
         case when not $5::boolean then lower(agents.name) end,
         case when $5::boolean then agents.id end desc,
         case when not $5::boolean then agents.id end
limit $8

-- name: ConnectorOrder :many
select connectors.id, connectors.name, ordered.key::text as key
from connectors
cross join lateral (
    select case $1::text
               when 'status' then lpad(coalesce(array_position($2::text[], connectors.status), 0)::text, 2, '0')
               when 'tools' then lpad(connectors.tool_count::text, 10, '0')
               when 'synced' then coalesce(to_char(connectors.tools_last_synced_at at time zone 'UTC', 'YYYYMMDDHH24MISSUS'), '')
               else ''
           end as key) ordered
where connectors.tenant_id = $3
  and ($4::text = '' or connectors.status = $4)
  and ($5::text = '' or connectors.name ilike $5 or connectors.slug ilike $5 or connectors.url ilike $5)
  and ($6::text is null
       or case when $7::boolean then ordered.key < $6 else ordered.key > $6 end
       or ordered.key = $6
          and case when $8::boolean
                   then (lower(connectors.name), connectors.id) < (lower($9::text), $10::uuid)
                   else (lower(connectors.name), connectors.id) > (lower($9::text), $10::uuid) end)
order by case when $7::boolean then ordered.key end desc,
         case when not $7::boolean then ordered.key end,
         case when $8::boolean then lower(connectors.name) end desc,
         case when not $8::boolean then lower(connectors.name) end,
         case when $8::boolean then connectors.id end desc,
         case when not $8::boolean then connectors.id end
limit $11

-- name: ToolOrder :many
select tools.connector_id, tools.name, ordered.moment::timestamptz as moment, ordered.key::text as key
from tools
join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.connector_id
cross join lateral (
    select case $1::text when 'changed' then tools.changed_at else 'epoch'::timestamptz end as moment,
           case $1::text when 'connector' then lower(connectors.name) else '' end as key) ordered
where tools.tenant_id = $2
  and ($3::uuid is null or tools.connector_id = $3)
  and ($4::boolean or tools.removed_at is null)
  and ($5::text = '' or $5::text = any(tools.tags))
  and ($6::text = ''
       or $6::text = 'enabled' and tools.enabled
       or $6::text = 'disabled' and not tools.enabled
       or $6::text = 'changed' and tools.review = 'changed'
       or $6::text = 'held' and tools.review <> 'accepted'
       or $6::text = 'curated' and (tools.alias <> '' or tools.agent_text <> ''))
  and ($7::text = ''
       or exists (select from tool_definitions definition
                  where definition.tenant_id = $2 and definition.hash = tools.current_hash
                    and encode(definition.raw, 'escape') ~ $7::text))
  and ($8::text = ''
       or tools.name ilike $9::text
       or tools.alias ilike $9::text
       or tools.agent_text <> '' and tools.agent_text ilike '%' || $9::text
       or lower($8::text) = any(tools.tags)
       or exists (select from tool_definitions definition
                  where definition.tenant_id = $2 and definition.hash = tools.current_hash
                    and definition.search @@ case when numnode(websearch_to_tsquery('english', $8)) > 0
                                                  then websearch_to_tsquery('english', $8)
                                                  else websearch_to_tsquery('simple', $8)
                                             end))
  and ($10::text is null
       or case when $11::boolean
               then (ordered.moment, ordered.key) < ($12::timestamptz, $10)
               else (ordered.moment, ordered.key) > ($12::timestamptz, $10) end
       or (ordered.moment, ordered.key) = ($12::timestamptz, $10)
          and case when $13::boolean
                   then (tools.name, tools.connector_id) < ($14::text, $15::uuid)
                   else (tools.name, tools.connector_id) > ($14::text, $15::uuid) end)
order by case when $11::boolean then ordered.moment end desc,
         case when not $11::boolean then ordered.moment end,
         case when $11::boolean then ordered.key end desc,
         case when not $11::boolean then ordered.key end,
         case when $13::boolean then tools.name end desc,
         case when not $13::boolean then tools.name end,
         case when $13::boolean then tools.connector_id end desc,
         case when not $13::boolean then tools.connector_id end
limit $16

-- name: ToolsNamed :many
with page as (
    select wanted.place,
           tools.connector_id, tools.name, tools.current_hash, tools.review, tools.enabled, tools.first_seen_at,
           tools.last_seen_at, tools.changed_at, tools.removed_at, tools.alias, tools.agent_text, tools.tags,
           exists (select from tools other
                   where other.tenant_id = $2 and other.connector_id = tools.connector_id
                     and other.alias = tools.name and other.alias <> '' and other.name <> tools.name and other.removed_at is null) as shadowed,
           connectors.slug, connectors.name as connector_name, connectors.tools_last_synced_at,
           definition.raw, definition.title, definition.description
    from (select unnest($3::uuid[]) as connector_id, unnest($4::text[]) as name,
                 generate_series(1, cardinality($4::text[])) as place) wanted
    join tools on tools.tenant_id = $2 and tools.connector_id = wanted.connector_id and tools.name = wanted.name
    join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.connector_id
    join tool_definitions definition on definition.tenant_id = tools.tenant_id and definition.hash = tools.current_hash
), measured as (
    select page.place, page.connector_id, page.name, page.current_hash, page.review, page.enabled, page.first_seen_at, page.last_seen_at, page.changed_at, page.removed_at, page.alias, page.agent_text, page.tags, page.shadowed, page.slug, page.connector_name, page.tools_last_synced_at, page.raw, page.title, page.description,
           row_number() over so_far as nth,
           sum(length(page.raw)) over so_far as bytes,
           lead(page.name) over so_far is not null as more
    from page
    window so_far as (order by page.place)
)
select connector_id, name, current_hash, review, enabled, first_seen_at, last_seen_at, changed_at, removed_at,
       alias, agent_text, tags, shadowed::boolean as shadowed, slug, connector_name, tools_last_synced_at, raw, title, description, more::boolean as more
from measured
where nth = 1 or bytes <= $1::bigint
order by place

-- name: DropDefinitions :execrows
with unused as materialized (
    select tool_definitions.hash
    from tool_definitions
    where tool_definitions.tenant_id = $1 and tool_definitions.hash = any($2::bytea[])
    except (
        select tools.current_hash from tools where tools.tenant_id = $1
        union all
        select tools.accepted_hash from tools where tools.tenant_id = $1
        union all
        select tool_changes.after_hash from tool_changes where tool_changes.tenant_id = $1 and tool_changes.after_hash = any($2::bytea[])
        union all
        select tool_changes.before_hash from tool_changes where tool_changes.tenant_id = $1 and tool_changes.before_hash = any($2::bytea[])
        union all
        select approvals.definition_hash from approvals where approvals.tenant_id = $1)
)
delete from tool_definitions
where tool_definitions.tenant_id = $1 and tool_definitions.hash = any(array(select unused.hash from unused))

-- name: LockDefinitions :many
select tool_definitions.hash
from tool_definitions
where tool_definitions.tenant_id = $1 and tool_definitions.hash = any($2::bytea[]) and tool_definitions.created_at < $3::timestamptz
order by tool_definitions.hash
for update skip locked

-- name: OldestHistory :one
select coalesce(least(
    (select tool_calls.started_at from tool_calls where tool_calls.tenant_id = $1 order by tool_calls.id limit 1),
    (select sync_runs.queued_at from sync_runs where sync_runs.tenant_id = $1 order by sync_runs.id limit 1),
    (select tool_changes.seen_at from tool_changes where tool_changes.tenant_id = $1 order by tool_changes.id limit 1)
), 'epoch')::timestamptz as at

-- name: SetHistoryDays :execrows
update tenants
set history_days = $1, updated_at = now()
where tenants.id = $2

-- name: SweepCalls :one

with doomed as materialized (
    select tool_calls.id
    from tool_calls
    where tool_calls.tenant_id = $2 and tool_calls.id > $1::uuid and tool_calls.id < $3::uuid
      and tool_calls.completed_at is not null
    order by tool_calls.id
    limit $4
    for update skip locked
), gone as (
    delete from tool_calls
    where tool_calls.tenant_id = $2 and tool_calls.id = any(array(select doomed.id from doomed))
    returning tool_calls.id
)
select (select count(*) from gone)::integer as gone,
       coalesce((select doomed.id from doomed order by doomed.id desc limit 1), $1::uuid)::uuid as last

-- name: SweepChanges :one
with page as materialized (
    select tool_changes.id, tool_changes.connector_id, tool_changes.tool, tool_changes.state, tool_changes.after_hash,
           coalesce(tool_changes.decided_at, tool_changes.seen_at) as ended_at
    from tool_changes
    where tool_changes.tenant_id = $2 and tool_changes.id > $1::uuid and tool_changes.id < $3::uuid
    order by tool_changes.id
    limit $4
), doomed as materialized (
    select tool_changes.id
    from tool_changes
    where tool_changes.tenant_id = $2
      and tool_changes.id = any(array(
          select page.id
          from page
          where page.state <> 'waiting' and page.ended_at < $5::timestamptz
            and exists (
                select from tool_changes newer
                where newer.tenant_id = $2 and newer.connector_id = page.connector_id and newer.tool = page.tool and newer.id > page.id)
            and not exists (
                select from tools
                where tools.tenant_id = $2 and tools.connector_id = page.connector_id and tools.name = page.tool
                  and page.after_hash in (tools.current_hash, tools.accepted_hash)
                  and not exists (
                      select from tool_changes again
                      where again.tenant_id = $2 and again.connector_id = page.connector_id and again.tool = page.tool
                        and again.id > page.id and again.after_hash = page.after_hash))))
    order by tool_changes.id
    for update skip locked
), gone as (
    delete from tool_changes
    where tool_changes.tenant_id = $2 and tool_changes.id = any(array(select doomed.id from doomed))
    returning tool_changes.id
)
select (select count(*) from gone)::integer as gone,
       (select count(*) from page)::integer as seen,
       coalesce((select page.id from page order by page.id desc limit 1), $1::uuid)::uuid as last

-- name: SweepHealth :one
with page as materialized (
    select connectors.id
    from connectors
    where connectors.tenant_id = $2 and connectors.id > $1::uuid
    order by connectors.id
    limit $3
), doomed as materialized (
    select past.connector_id, past.hour
    from connector_health past
    where past.tenant_id = $2 and past.connector_id = any(array(select page.id from page)) and past.hour < $4::timestamptz
    order by past.connector_id, past.hour
    limit $5
    for update skip locked
), gone as (
    delete from connector_health
    using doomed
    where connector_health.tenant_id = $2 and connector_health.connector_id = doomed.connector_id and connector_health.hour = doomed.hour
    returning connector_health.hour
)
select (select count(*) from gone)::integer as gone,
       (select count(*) from page)::integer as seen,
       coalesce((select page.id from page order by page.id desc limit 1), $1::uuid)::uuid as last

-- name: SweepKeys :one
with keys as (
    delete from api_keys
    where api_keys.tenant_id = $1 and least(api_keys.revoked_at, api_keys.expires_at) < $2::timestamptz
    returning api_keys.id
), tokens as (
    delete from agent_tokens
    where agent_tokens.tenant_id = $1 and agent_tokens.expires_at < $2::timestamptz
    returning agent_tokens.id
)
select ((select count(*) from keys) + (select count(*) from tokens))::integer as gone

-- name: SweepRuns :one
with page as materialized (
    select sync_runs.id, sync_runs.connector_id, sync_runs.state, coalesce(sync_runs.repeated_at, sync_runs.finished_at) as ended_at
    from sync_runs
    where sync_runs.tenant_id = $2 and sync_runs.id > $1::uuid and sync_runs.id < $3::uuid
    order by sync_runs.id
    limit $4
), doomed as materialized (
    select sync_runs.id
    from sync_runs
    where sync_runs.tenant_id = $2
      and sync_runs.id = any(array(
          select page.id
          from page
          where page.state in ('ok', 'error') and page.ended_at < $5::timestamptz
            and exists (
                select from sync_runs newer
                where newer.tenant_id = $2 and newer.connector_id = page.connector_id and newer.id > page.id
                  and newer.state in ('ok', 'error'))
            and not exists (
                select from connector_clock clock
                where clock.tenant_id = $2 and clock.connector_id = page.connector_id and clock.run_id = page.id)))
    order by sync_runs.id
    for update skip locked
), gone as (
    delete from sync_runs
    where sync_runs.tenant_id = $2 and sync_runs.id = any(array(select doomed.id from doomed))
    returning sync_runs.id
)
select (select count(*) from gone)::integer as gone,
       (select count(*) from page)::integer as seen,
       coalesce((select page.id from page order by page.id desc limit 1), $1::uuid)::uuid as last

-- name: UnusedDefinitions :many
select tool_definitions.hash
from tool_definitions
where tool_definitions.tenant_id = $2 and tool_definitions.hash > $3::bytea
except (
    select tools.current_hash from tools where tools.tenant_id = $2
    union all
    select tools.accepted_hash from tools where tools.tenant_id = $2
    union all
    select tool_changes.after_hash from tool_changes where tool_changes.tenant_id = $2
    union all
    select tool_changes.before_hash from tool_changes where tool_changes.tenant_id = $2
    union all
    select approvals.definition_hash from approvals where approvals.tenant_id = $2)
order by hash
limit $1

-- name: NewestSweep :one
with newest as (
    select sync_runs.sweep_id
    from sync_runs
    where sync_runs.tenant_id = $1 and sync_runs.sweep_id is not null
    order by sync_runs.sweep_id desc
    limit 1
)
select newest.sweep_id::uuid as id,
       count(*)::integer as total,
       (count(*) filter (where runs.state = 'ok'))::integer as ok,
       (count(*) filter (where runs.state = 'error'))::integer as failed,
       coalesce(max(runs.finished_at), 'epoch')::timestamptz as last_at
from newest
join sync_runs runs on runs.tenant_id = $1 and runs.sweep_id = newest.sweep_id
group by newest.sweep_id

-- name: Claim :one
select (claimed_by is not null)::boolean as taken
from connector_clock
where tenant_id = $1 and connector_id = $2

-- name: CloseOrphanedRuns :execrows
with closed as (
    update sync_runs
    set state = 'error',
        finished_at = now(),
        error_code = 'interrupted',
        error_message = 'The server stopped during this sync.'
    where sync_runs.tenant_id = $1 and sync_runs.connector_id = $2 and sync_runs.state = 'running'
      and sync_runs.instance_id <> $3
      and not exists (select from instances where instances.id = sync_runs.instance_id)
    returning sync_runs.connector_id, sync_runs.instance_id
), released as (
    update connector_clock
    set claimed_by = null, claimed_at = null
    from closed
    where connector_clock.tenant_id = $1 and connector_clock.connector_id = closed.connector_id
      and connector_clock.claimed_by = closed.instance_id
)
select connector_id from closed

-- name: FailRun :one
with stamped as (
    update connectors
    set last_error_code = $4::text,
        last_error_message = $5::text,
        last_error_at = now(),
        auth_behaviour = coalesce(nullif($8::text, ''), connectors.auth_behaviour)
    from sync_runs run
    where connectors.tenant_id = $6
      and run.tenant_id = $6 and run.id = $7 and run.state in ('queued', 'running')
      and connectors.id = run.connector_id
    returning connectors.id, run.state, run.started_at, $9::integer as answered, $10::integer as silent
), released as (
    update connector_clock
    set due_at = now() + make_interval(secs => $11::double precision * (1 + 0.1 * random())),
        claimed_by = null,
        claimed_at = null,
        failures = failures + 1,
        failing_since = coalesce(failing_since, now()),
        run_id = null,
        checks = 0,
        checked_at = now(),
        hour = date_trunc('hour', now(), 'UTC'),
        hour_failed = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_failed else 0 end + stamped.silent,
        hour_ok = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ok else 0 end + stamped.answered,
        hour_ms = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ms else 0 end + extract(epoch from now() - stamped.started_at) * 1000 * (stamped.answered + stamped.silent),
        hour_max_ms = greatest(case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_max_ms else 0 end, extract(epoch from now() - stamped.started_at) * 1000 * (stamped.answered + stamped.silent))
    from stamped
    where connector_clock.tenant_id = $6 and connector_clock.connector_id = stamped.id and stamped.state = 'running'
)
update sync_runs
set state = 'error',
    finished_at = now(),
    tools_total = $1,
    tools_quarantined = $2,
    protocol_version = $3,
    error_code = $4,
    error_message = $5
from stamped
where sync_runs.tenant_id = $6 and sync_runs.id = $7 and sync_runs.state in ('queued', 'running')
  and sync_runs.connector_id = stamped.id
returning sync_runs.tenant_id, sync_runs.id, sync_runs.connector_id, sync_runs.agent_id, sync_runs.trigger, sync_runs.state, sync_runs.instance_id, sync_runs.queued_at, sync_runs.started_at, sync_runs.finished_at, sync_runs.tools_total, sync_runs.tools_added, sync_runs.tools_changed, sync_runs.tools_removed, sync_runs.tools_quarantined, sync_runs.protocol_version, sync_runs.error_code, sync_runs.error_message, sync_runs.repeats, sync_runs.repeated_at, sync_runs.sweep_id

-- name: FinishRun :one
with locked as (
    select connectors.id
    from connectors
    join sync_runs run on run.tenant_id = connectors.tenant_id and run.connector_id = connectors.id
    where connectors.tenant_id = $7 and run.id = $8 and run.state = 'running'
    for no key update of connectors
)
update sync_runs
set state = 'ok',
    finished_at = now(),
    tools_total = $1,
    tools_added = $2,
    tools_changed = $3,
    tools_removed = $4,
    tools_quarantined = $5,
    protocol_version = $6
from locked
where sync_runs.tenant_id = $7 and sync_runs.id = $8 and sync_runs.state = 'running'
  and sync_runs.connector_id = locked.id
returning sync_runs.tenant_id, sync_runs.id, sync_runs.connector_id, sync_runs.agent_id, sync_runs.trigger, sync_runs.state, sync_runs.instance_id, sync_runs.queued_at, sync_runs.started_at, sync_runs.finished_at, sync_runs.tools_total, sync_runs.tools_added, sync_runs.tools_changed, sync_runs.tools_removed, sync_runs.tools_quarantined, sync_runs.protocol_version, sync_runs.error_code, sync_runs.error_message, sync_runs.repeats, sync_runs.repeated_at, sync_runs.sweep_id

-- name: FinishUnchanged :one
with stamped as (
    update connectors
    set tools_last_synced_at = now(),
        auth_behaviour = coalesce(nullif($6::text, ''), connectors.auth_behaviour),
        era = coalesce(nullif($7::text, ''), connectors.era),
        last_error_code = null,
        last_error_message = null,
        last_error_at = null,
        server_name = $8,
        server_version = $9,
        server_title = $10,
        server_protocol = $3,
        server_capabilities = $11
    from sync_runs run
    where connectors.tenant_id = $4 and connectors.tools_hash = $12 and connectors.server_instructions = $13
      and run.tenant_id = $4 and run.id = $5 and run.state = 'running'
      and connectors.id = run.connector_id
    returning connectors.id, connectors.enabled, connectors.sync_interval_s, run.id as run_id, run.trigger, run.started_at
), released as (
    update connector_clock
    set due_at = case when stamped.enabled then next_due(stamped.sync_interval_s) end,
        known_until = coalesce(now() + make_interval(secs => nullif($14::double precision, 0)), connector_clock.known_until),
        claimed_by = null,
        claimed_at = null,
        failures = 0,
        failing_since = null,
        run_id = case when stamped.trigger = 'schedule' then stamped.run_id end,
        checks = 0,
        checked_at = now(),
        ok_at = now(),
        hour = date_trunc('hour', now(), 'UTC'),
        hour_ok = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ok else 0 end + 1,
        hour_failed = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_failed else 0 end,
        hour_ms = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ms else 0 end + extract(epoch from now() - stamped.started_at) * 1000,
        hour_max_ms = greatest(case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_max_ms else 0 end, extract(epoch from now() - stamped.started_at) * 1000)
    from stamped
    where connector_clock.tenant_id = $4 and connector_clock.connector_id = stamped.id
)
update sync_runs
set state = 'ok',
    finished_at = now(),
    tools_total = $1,
    tools_quarantined = $2,
    protocol_version = $3
from stamped
where sync_runs.tenant_id = $4 and sync_runs.id = $5 and sync_runs.state = 'running'
  and sync_runs.connector_id = stamped.id
returning sync_runs.tenant_id, sync_runs.id, sync_runs.connector_id, sync_runs.agent_id, sync_runs.trigger, sync_runs.state, sync_runs.instance_id, sync_runs.queued_at, sync_runs.started_at, sync_runs.finished_at, sync_runs.tools_total, sync_runs.tools_added, sync_runs.tools_changed, sync_runs.tools_removed, sync_runs.tools_quarantined, sync_runs.protocol_version, sync_runs.error_code, sync_runs.error_message, sync_runs.repeats, sync_runs.repeated_at, sync_runs.sweep_id

-- name: KeepRunRequests :exec
insert into sync_run_requests (tenant_id, run_id, requests)
select sync_runs.tenant_id, sync_runs.id, $1
from sync_runs
where sync_runs.tenant_id = $2 and sync_runs.id = $3
on conflict (tenant_id, run_id) do nothing

-- name: QueueRun :one
insert into sync_runs (tenant_id, id, connector_id, agent_id, trigger, state)
values ($1, $2, $3, $4, $5, 'queued')
on conflict (tenant_id, connector_id) where state = 'queued' do nothing
returning sync_runs.tenant_id, sync_runs.id, sync_runs.connector_id, sync_runs.agent_id, sync_runs.trigger, sync_runs.state, sync_runs.instance_id, sync_runs.queued_at, sync_runs.started_at, sync_runs.finished_at, sync_runs.tools_total, sync_runs.tools_added, sync_runs.tools_changed, sync_runs.tools_removed, sync_runs.tools_quarantined, sync_runs.protocol_version, sync_runs.error_code, sync_runs.error_message, sync_runs.repeats, sync_runs.repeated_at, sync_runs.sweep_id

-- name: QueueRuns :many
insert into sync_runs (tenant_id, id, connector_id, trigger, state, sweep_id)
select $1, new.id, new.connector_id, $2, 'queued', $3::uuid
from (select unnest($4::uuid[]) as id, unnest($5::uuid[]) as connector_id) new
on conflict (tenant_id, connector_id) where state = 'queued' do update set sweep_id = excluded.sweep_id
returning sync_runs.id, sync_runs.connector_id

-- name: QueuedRun :one
select sync_runs.tenant_id, sync_runs.id, sync_runs.connector_id, sync_runs.agent_id, sync_runs.trigger, sync_runs.state, sync_runs.instance_id, sync_runs.queued_at, sync_runs.started_at, sync_runs.finished_at, sync_runs.tools_total, sync_runs.tools_added, sync_runs.tools_changed, sync_runs.tools_removed, sync_runs.tools_quarantined, sync_runs.protocol_version, sync_runs.error_code, sync_runs.error_message, sync_runs.repeats, sync_runs.repeated_at, sync_runs.sweep_id
from sync_runs
where tenant_id = $1 and connector_id = $2 and state = 'queued'

-- name: RunRequests :one
select requests
from sync_run_requests
where tenant_id = $1 and run_id = $2

-- name: RunTrouble :one
select connectors.enabled, connectors.sync_interval_s, clock.failures,
       coalesce(extract(epoch from now() - clock.failing_since), 0)::double precision as failing_s
from sync_runs run
join connectors on connectors.tenant_id = run.tenant_id and connectors.id = run.connector_id
join connector_clock clock on clock.tenant_id = run.tenant_id and clock.connector_id = run.connector_id
where run.tenant_id = $1 and run.id = $2 and run.state in ('queued', 'running')

-- name: StampConnector :exec
with stamped as (
    update connectors
    set tools_hash = $4,
        tool_count = $5,
        tools_last_synced_at = now(),
        auth_behaviour = coalesce(nullif($6::text, ''), auth_behaviour),
        era = coalesce(nullif($7::text, ''), era),
        last_error_code = null,
        last_error_message = null,
        last_error_at = null,
        server_name = $8,
        server_version = $9,
        server_title = $10,
        server_protocol = $11,
        server_instructions = $12,
        accepted_instructions = case when $13::text = '' then connectors.accepted_instructions else $14::text end,
        instructions_review = coalesce(nullif($13::text, ''), connectors.instructions_review),
        server_capabilities = $15
    where connectors.tenant_id = $3 and connectors.id = $16
    returning connectors.id, connectors.enabled, connectors.sync_interval_s
)
update connector_clock
set due_at = case when stamped.enabled then next_due(stamped.sync_interval_s) end,
    known_until = coalesce(now() + make_interval(secs => nullif($1::double precision, 0)), connector_clock.known_until),
    claimed_by = null,
    claimed_at = null,
    failures = 0,
    failing_since = null,
    run_id = null,
    checks = 0,
    checked_at = now(),
    ok_at = now(),
    hour = date_trunc('hour', now(), 'UTC'),
    hour_ok = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ok else 0 end + 1,
    hour_failed = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_failed else 0 end,
    hour_ms = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ms else 0 end + $2::bigint,
    hour_max_ms = greatest(case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_max_ms else 0 end, $2::bigint)
from stamped
where connector_clock.tenant_id = $3 and connector_clock.connector_id = stamped.id

-- name: StartClaimedRun :one
with held as materialized (
    select clock.connector_id, clock.run_id, clock.checks, clock.checked_at
    from connector_clock clock
    where clock.tenant_id = $1 and clock.connector_id = $5
      and clock.claimed_by = $3::uuid and clock.claimed_at = $6::timestamptz
    for no key update
), cleared as (
    update connector_clock
    set run_id = null, checks = 0
    from held
    where connector_clock.tenant_id = $1 and connector_clock.connector_id = held.connector_id and held.run_id is not null
), closed as (
    update sync_runs
    set repeats = held.checks, repeated_at = held.checked_at
    from held
    where sync_runs.tenant_id = $1 and sync_runs.id = held.run_id and held.checks > 0
)
insert into sync_runs (tenant_id, id, connector_id, trigger, state, instance_id, queued_at, started_at)
select $1, $2, held.connector_id, 'schedule', 'running', $3::uuid, $4::timestamptz, $4::timestamptz
from held
returning sync_runs.tenant_id, sync_runs.id, sync_runs.connector_id, sync_runs.agent_id, sync_runs.trigger, sync_runs.state, sync_runs.instance_id, sync_runs.queued_at, sync_runs.started_at, sync_runs.finished_at, sync_runs.tools_total, sync_runs.tools_added, sync_runs.tools_changed, sync_runs.tools_removed, sync_runs.tools_quarantined, sync_runs.protocol_version, sync_runs.error_code, sync_runs.error_message, sync_runs.repeats, sync_runs.repeated_at, sync_runs.sweep_id

-- name: StartQueuedRun :one
with free as materialized (
    select clock.connector_id, clock.run_id, clock.checks, clock.checked_at
    from sync_runs queued
    join connector_clock clock on clock.tenant_id = queued.tenant_id and clock.connector_id = queued.connector_id
    where queued.tenant_id = $2 and queued.id = $3 and queued.state = 'queued'
      and (clock.claimed_by is null or not exists (select from instances where instances.id = clock.claimed_by))
      and not exists (
          select from sync_runs other
          where other.tenant_id = $2 and other.connector_id = queued.connector_id and other.state = 'running')
    for no key update of clock
), claimed as (
    update connector_clock
    set claimed_by = $1::uuid, claimed_at = now(), run_id = null, checks = 0
    from free
    where connector_clock.tenant_id = $2 and connector_clock.connector_id = free.connector_id
), closed as (
    update sync_runs
    set repeats = free.checks, repeated_at = free.checked_at
    from free
    where sync_runs.tenant_id = $2 and sync_runs.id = free.run_id and free.checks > 0
)
update sync_runs
set state = 'running', instance_id = $1::uuid, started_at = now()
from free
where sync_runs.tenant_id = $2 and sync_runs.id = $3 and sync_runs.state = 'queued'
returning sync_runs.tenant_id, sync_runs.id, sync_runs.connector_id, sync_runs.agent_id, sync_runs.trigger, sync_runs.state, sync_runs.instance_id, sync_runs.queued_at, sync_runs.started_at, sync_runs.finished_at, sync_runs.tools_total, sync_runs.tools_added, sync_runs.tools_changed, sync_runs.tools_removed, sync_runs.tools_quarantined, sync_runs.protocol_version, sync_runs.error_code, sync_runs.error_message, sync_runs.repeats, sync_runs.repeated_at, sync_runs.sweep_id

-- name: StartRun :one
with locked as materialized (
    select connectors.id
    from connectors
    where connectors.tenant_id = $1 and connectors.id = $6
    for key share
), free as materialized (
    select clock.connector_id, clock.run_id, clock.checks, clock.checked_at
    from connector_clock clock, locked
    where clock.tenant_id = $1 and clock.connector_id = locked.id
      and (clock.claimed_by is null or not exists (select from instances where instances.id = clock.claimed_by))
      and not exists (
          select from sync_runs other
          where other.tenant_id = $1 and other.connector_id = locked.id and other.state = 'running')
    for no key update of clock
), claimed as (
    update connector_clock
    set claimed_by = $5::uuid, claimed_at = now(), run_id = null, checks = 0
    from free
    where connector_clock.tenant_id = $1 and connector_clock.connector_id = free.connector_id
), closed as (
    update sync_runs
    set repeats = free.checks, repeated_at = free.checked_at
    from free
    where sync_runs.tenant_id = $1 and sync_runs.id = free.run_id and free.checks > 0
)
insert into sync_runs (tenant_id, id, connector_id, agent_id, trigger, state, instance_id, started_at)
select $1, $2, free.connector_id, $3, $4, 'running', $5::uuid, now()
from free
returning sync_runs.tenant_id, sync_runs.id, sync_runs.connector_id, sync_runs.agent_id, sync_runs.trigger, sync_runs.state, sync_runs.instance_id, sync_runs.queued_at, sync_runs.started_at, sync_runs.finished_at, sync_runs.tools_total, sync_runs.tools_added, sync_runs.tools_changed, sync_runs.tools_removed, sync_runs.tools_quarantined, sync_runs.protocol_version, sync_runs.error_code, sync_runs.error_message, sync_runs.repeats, sync_runs.repeated_at, sync_runs.sweep_id

-- name: SyncRun :one
select sync_runs.tenant_id, sync_runs.id, sync_runs.connector_id, sync_runs.agent_id, sync_runs.trigger, sync_runs.state, sync_runs.instance_id, sync_runs.queued_at, sync_runs.started_at, sync_runs.finished_at, sync_runs.tools_total, sync_runs.tools_added, sync_runs.tools_changed, sync_runs.tools_removed, sync_runs.tools_quarantined, sync_runs.protocol_version, sync_runs.error_code, sync_runs.error_message, sync_runs.repeats, sync_runs.repeated_at, sync_runs.sweep_id, coalesce(clock.checks, 0)::integer as checks, clock.checked_at
from sync_runs
left join connector_clock clock
    on clock.tenant_id = sync_runs.tenant_id and clock.connector_id = sync_runs.connector_id and clock.run_id = sync_runs.id
where sync_runs.tenant_id = $1 and sync_runs.id = $2

-- name: SyncRuns :many
select sync_runs.tenant_id, sync_runs.id, sync_runs.connector_id, sync_runs.agent_id, sync_runs.trigger, sync_runs.state, sync_runs.instance_id, sync_runs.queued_at, sync_runs.started_at, sync_runs.finished_at, sync_runs.tools_total, sync_runs.tools_added, sync_runs.tools_changed, sync_runs.tools_removed, sync_runs.tools_quarantined, sync_runs.protocol_version, sync_runs.error_code, sync_runs.error_message, sync_runs.repeats, sync_runs.repeated_at, sync_runs.sweep_id, coalesce(clock.checks, 0)::integer as checks, clock.checked_at
from sync_runs
left join connector_clock clock
    on clock.tenant_id = sync_runs.tenant_id and clock.connector_id = sync_runs.connector_id and clock.run_id = sync_runs.id
where sync_runs.tenant_id = $1 and sync_runs.connector_id = $2
  and ($3::uuid is null or sync_runs.id < $3)
order by sync_runs.id desc
limit $4

-- name: WaitingRuns :one
select count(*)::integer
from (
    select from sync_runs
    where tenant_id = $1 and state = 'queued'
    limit $2
) waiting

-- name: BeginCalls :many

with those_tenants as materialized (
    select tenants.id as tenant_id
    from tenants
    where tenants.id = any($1::uuid[])
    order by tenants.id
    for key share
), those_agents as materialized (
    select agents.tenant_id, agents.id
    from agents
    where (agents.tenant_id, agents.id) in (select distinct unnest($1::uuid[]), unnest($2::uuid[]))
    for key share skip locked
), those_connectors as materialized (
    select connectors.tenant_id, connectors.id
    from connectors
    where (connectors.tenant_id, connectors.id) in (select distinct unnest($1::uuid[]), unnest($3::uuid[]))
    for key share skip locked
), held as materialized (
    select agents.tenant_id, agents.id
    from agents
    where (agents.tenant_id, agents.id) in (select distinct unnest($1::uuid[]), unnest($2::uuid[]))
      and not exists (select from those_agents where those_agents.tenant_id = agents.tenant_id and those_agents.id = agents.id)
    union all
    select connectors.tenant_id, connectors.id
    from connectors
    where (connectors.tenant_id, connectors.id) in (select distinct unnest($1::uuid[]), unnest($3::uuid[]))
      and not exists (
          select from those_connectors
          where those_connectors.tenant_id = connectors.tenant_id and those_connectors.id = connectors.id)
), heads as materialized (
    select head.number, head.tenant_id, those_agents.id as agent_id, head.agent_slug, those_connectors.id as connector_id, head.connector_slug, head.kind,
           head.tool, head.exposed_name, head.source, head.caller, head.token_id, head.credential_id, head.definition_hash, head.instance_id,
           head.status, head.approved_by, head.truncated
    from (
        select unnest($4::bigint[]) as number, unnest($1::uuid[]) as tenant_id, unnest($2::uuid[]) as agent_id,
               unnest($5::text[]) as agent_slug, unnest($3::uuid[]) as connector_id,
               unnest($6::text[]) as connector_slug, unnest($7::text[]) as kind, unnest($8::text[]) as tool,
               unnest($9::text[]) as exposed_name, unnest($10::text[]) as source, unnest($11::text[]) as caller,
               unnest($12::uuid[]) as token_id, unnest($13::uuid[]) as credential_id,
               unnest($14::bytea[]) as definition_hash, unnest($15::uuid[]) as instance_id,
               unnest($16::text[]) as status, unnest($17::text[]) as approved_by, unnest($18::boolean[]) as truncated
    ) head
    join those_tenants on those_tenants.tenant_id = head.tenant_id
    left join those_agents on those_agents.tenant_id = head.tenant_id and those_agents.id = head.agent_id
    left join those_connectors on those_connectors.tenant_id = head.tenant_id and those_connectors.id = head.connector_id
    where not exists (
        select from held
        where held.tenant_id = head.tenant_id and (held.id = head.agent_id or held.id = head.connector_id))
), begun as (
    insert into tool_calls (tenant_id, id, agent_id, agent_slug, connector_id, connector_slug, kind, tool, exposed_name, source, caller, token_id,
        credential_id, definition_hash, instance_id, status, approved_by, arguments, truncated, request_bytes, started_at)
    select heads.tenant_id, new.id, heads.agent_id, heads.agent_slug, heads.connector_id, heads.connector_slug, heads.kind, heads.tool, heads.exposed_name,
           heads.source, heads.caller, nullif(heads.token_id, $19::uuid), nullif(heads.credential_id, $19::uuid), heads.definition_hash,
           nullif(heads.instance_id, $19::uuid), heads.status, heads.approved_by, new.arguments, heads.truncated, new.request_bytes, new.started_at
    from (
        select generate_series(1, cardinality($20::uuid[])) as place, unnest($21::bigint[]) as head, unnest($20::uuid[]) as id,
               unnest($22::bytea[]) as arguments, unnest($23::bigint[]) as request_bytes,
               unnest($24::timestamptz[]) as started_at
    ) new
    join heads on heads.number = new.head
    on conflict on constraint tool_calls_pkey do nothing
)
select held.id
from held

-- name: CloseAllCalls :exec
with ended as (
    update tool_calls
    set status = 'error',
        outcome = 'lost',
        error_code = 'interrupted',
        error_message = 'The server stopped during this call. Whether the tool ran is not known.',
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    where completed_at is null and status = 'running' and instance_id is not null
    returning tool_calls.tenant_id, tool_calls.completed_at, tool_calls.status
)
select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])
from ended

-- name: CloseCallsOf :exec
with ended as (
    update tool_calls
    set status = 'error',
        outcome = 'lost',
        error_code = 'interrupted',
        error_message = 'The server stopped during this call. Whether the tool ran is not known.',
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    where completed_at is null and status = 'running' and instance_id = $1
    returning tool_calls.tenant_id, tool_calls.completed_at, tool_calls.status
)
select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])
from ended

-- name: CloseCallsOfSilentInstances :many
with left_over as materialized (
    select tool_calls.tenant_id, tool_calls.id
    from tool_calls
    where tool_calls.completed_at is null and tool_calls.status = 'running' and tool_calls.instance_id <> $1
      and not exists (
          select from instances
          where instances.id = tool_calls.instance_id)
    limit $2
    for update skip locked
), ended as (
    update tool_calls
    set status = 'error',
        outcome = 'lost',
        error_code = 'interrupted',
        error_message = 'The server stopped during this call. Whether the tool ran is not known.',
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    from left_over
    where tool_calls.tenant_id = left_over.tenant_id and tool_calls.id = left_over.id
    returning tool_calls.tenant_id, tool_calls.id, tool_calls.completed_at, tool_calls.status
), counted as (
    select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])
    from ended
)
select ended.tenant_id, ended.id
from ended
where exists (select from counted)

-- name: CloseOldTasks :many
with forgotten as materialized (
    select tool_calls.tenant_id, tool_calls.id
    from tool_calls
    where tool_calls.completed_at is null and tool_calls.status = 'running' and tool_calls.instance_id is null
      and tool_calls.started_at < now() - interval '1 day'
    limit $1
    for update skip locked
), ended as (
    update tool_calls
    set status = 'error',
        outcome = 'lost',
        error_code = 'task_forgotten',
        error_message = 'Nobody asked how this task ended.',
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    from forgotten
    where tool_calls.tenant_id = forgotten.tenant_id and tool_calls.id = forgotten.id
    returning tool_calls.tenant_id, tool_calls.id, tool_calls.completed_at, tool_calls.status
), counted as (
    select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])
    from ended
)
select ended.tenant_id, ended.id
from ended
where exists (select from counted)

-- name: EndCalls :many
with those_tenants as materialized (
    select tenants.id as tenant_id
    from tenants
    where tenants.id = any($1::uuid[])
    order by tenants.id
    for key share
), those_agents as materialized (
    select agents.tenant_id, agents.id
    from agents
    where (agents.tenant_id, agents.id) in (select distinct unnest($1::uuid[]), unnest($2::uuid[]))
    for key share skip locked
), those_connectors as materialized (
    select connectors.tenant_id, connectors.id
    from connectors
    where (connectors.tenant_id, connectors.id) in (select distinct unnest($1::uuid[]), unnest($3::uuid[]))
    for key share skip locked
), held as materialized (
    select agents.tenant_id, agents.id
    from agents
    where (agents.tenant_id, agents.id) in (select distinct unnest($1::uuid[]), unnest($2::uuid[]))
      and not exists (select from those_agents where those_agents.tenant_id = agents.tenant_id and those_agents.id = agents.id)
    union all
    select connectors.tenant_id, connectors.id
    from connectors
    where (connectors.tenant_id, connectors.id) in (select distinct unnest($1::uuid[]), unnest($3::uuid[]))
      and not exists (
          select from those_connectors
          where those_connectors.tenant_id = connectors.tenant_id and those_connectors.id = connectors.id)
), heads as materialized (
    select head.number, head.tenant_id, those_agents.id as agent_id, head.agent_slug, those_connectors.id as connector_id, head.connector_slug, head.kind,
           head.tool, head.exposed_name, head.source, head.caller, head.token_id, head.credential_id, head.definition_hash, head.instance_id,
           head.status, head.outcome, head.error_code, head.error_message, head.is_error, head.approved_by, head.truncated
    from (
        select unnest($4::bigint[]) as number, unnest($1::uuid[]) as tenant_id, unnest($2::uuid[]) as agent_id,
               unnest($5::text[]) as agent_slug, unnest($3::uuid[]) as connector_id,
               unnest($6::text[]) as connector_slug, unnest($7::text[]) as kind, unnest($8::text[]) as tool,
               unnest($9::text[]) as exposed_name, unnest($10::text[]) as source, unnest($11::text[]) as caller,
               unnest($12::uuid[]) as token_id, unnest($13::uuid[]) as credential_id,
               unnest($14::bytea[]) as definition_hash, unnest($15::uuid[]) as instance_id,
               unnest($16::text[]) as status, unnest($17::text[]) as outcome,
               unnest($18::text[]) as error_code, unnest($19::text[]) as error_message,
               unnest($20::boolean[]) as is_error, unnest($21::text[]) as approved_by, unnest($22::boolean[]) as truncated
    ) head
    join those_tenants on those_tenants.tenant_id = head.tenant_id
    left join those_agents on those_agents.tenant_id = head.tenant_id and those_agents.id = head.agent_id
    left join those_connectors on those_connectors.tenant_id = head.tenant_id and those_connectors.id = head.connector_id
    where not exists (
        select from held
        where held.tenant_id = head.tenant_id and (held.id = head.agent_id or held.id = head.connector_id))
), ended as (
    insert into tool_calls (tenant_id, id, agent_id, agent_slug, connector_id, connector_slug, kind, tool, exposed_name, source, caller, token_id,
        credential_id, definition_hash, instance_id, status, outcome, error_code, error_message, is_error, approved_by, arguments, content,
        structured, task, truncated, request_bytes, response_bytes, started_at, completed_at, duration_us)
    select heads.tenant_id, new.id, heads.agent_id, heads.agent_slug, heads.connector_id, heads.connector_slug, heads.kind, heads.tool, heads.exposed_name,
           heads.source, heads.caller, nullif(heads.token_id, $23::uuid), nullif(heads.credential_id, $23::uuid), heads.definition_hash,
           nullif(heads.instance_id, $23::uuid), heads.status, heads.outcome, heads.error_code, heads.error_message, heads.is_error,
           heads.approved_by, new.arguments, new.content, new.structured, new.task, heads.truncated, new.request_bytes, new.response_bytes,
           new.started_at, new.completed_at, new.duration_us
    from (
        select generate_series(1, cardinality($24::uuid[])) as place, unnest($25::bigint[]) as head, unnest($24::uuid[]) as id,
               unnest($26::bytea[]) as arguments, unnest($27::bytea[]) as content,
               unnest($28::bytea[]) as structured, unnest($29::bytea[]) as task,
               unnest($30::bigint[]) as request_bytes, unnest($31::bigint[]) as response_bytes,
               unnest($32::timestamptz[]) as started_at, unnest($33::timestamptz[]) as completed_at,
               unnest($34::bigint[]) as duration_us
    ) new
    join heads on heads.number = new.head
    on conflict on constraint tool_calls_pkey do update
    set credential_id = excluded.credential_id,
        status = excluded.status,
        outcome = excluded.outcome,
        error_code = excluded.error_code,
        error_message = excluded.error_message,
        is_error = excluded.is_error,
        approved_by = excluded.approved_by,
        content = excluded.content,
        structured = excluded.structured,
        task = excluded.task,
        truncated = excluded.truncated or tool_calls.truncated,
        response_bytes = excluded.response_bytes,
        completed_at = excluded.completed_at,
        duration_us = excluded.duration_us
    where tool_calls.completed_at is null or tool_calls.outcome = 'lost' and excluded.outcome <> 'lost'
    returning tool_calls.tenant_id, tool_calls.completed_at, tool_calls.status,
              case when tool_calls.outcome in ('ok', 'tool_error', 'rpc_error', 'transport') and tool_calls.approved_by = '' and tool_calls.task is null
                   then tool_calls.duration_us end as took_us
), counted as (
    select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), array_agg(ended.took_us))::bigint as calls
    from ended
)
select held.id
from held
union all
select $23::uuid
from counted -- which makes it count; it is never null
where counted.calls is null

-- name: NoteProgress :many
with those as materialized (
    select tool_calls.tenant_id, tool_calls.id, new.progress
    from (
        select unnest($1::uuid[]) as tenant_id, unnest($2::uuid[]) as id, unnest($3::bytea[]) as progress
    ) new
    join tool_calls on tool_calls.tenant_id = new.tenant_id and tool_calls.id = new.id
    where tool_calls.completed_at is null and tool_calls.status = 'running'
    for update of tool_calls skip locked
)
update tool_calls
set progress = those.progress
from those
where tool_calls.tenant_id = those.tenant_id and tool_calls.id = those.id
returning tool_calls.id

-- name: ClaimDue :many
with seen as materialized (
    select due.tenant_id, due.connector_id, due.due_at, due.claimed_by
    from (select unnest($2::smallint[]) as shard) one
    cross join lateral (
        (select clock.tenant_id, clock.connector_id, clock.due_at, clock.claimed_by
         from connector_clock clock
         where clock.shard = one.shard and clock.due_at <= now()
         order by clock.due_at
         limit $3::integer)
        union
        (select clock.tenant_id, clock.connector_id, clock.due_at, clock.claimed_by
         from connector_clock clock
         where clock.shard = one.shard and clock.due_at <= now()
         order by clock.due_at desc
         limit $4::integer)
    ) due
), ranked as (
    select seen.tenant_id, seen.connector_id, seen.due_at, seen.claimed_by, instances.id is null as free,
           row_number() over (partition by seen.tenant_id order by (instances.id is null), seen.due_at, seen.connector_id) as place
    from seen
    left join instances on instances.id = seen.claimed_by
), chosen as materialized (
    select ranked.tenant_id, ranked.connector_id, ranked.due_at, ranked.claimed_by
    from ranked
    where ranked.free and ranked.place <= $5::integer
    order by ranked.place, ranked.due_at
    limit $6
)
update connector_clock
set claimed_by = $1::uuid, claimed_at = now()
from chosen
join connectors on connectors.tenant_id = chosen.tenant_id and connectors.id = chosen.connector_id
where connector_clock.tenant_id = chosen.tenant_id and connector_clock.connector_id = chosen.connector_id
  and connector_clock.due_at = chosen.due_at and connector_clock.claimed_by is not distinct from chosen.claimed_by -- unless a run began just now
returning connectors.tenant_id, connectors.id, connectors.slug, connectors.name, connectors.description, connectors.transport, connectors.url, connectors.headers, connectors.credential_mode, connectors.auth_type, connectors.auth_header, connectors.timeout_ms, connectors.retry_attempts, connectors.enabled, connectors.sync_interval_s, connectors.tool_changes, connectors.version, connectors.auth_behaviour, connectors.tool_count, connectors.tools_hash, connectors.tools_last_synced_at, connectors.next_sync_at, connectors.last_error_code, connectors.last_error_message, connectors.last_error_at, connectors.server_name, connectors.server_version, connectors.server_title, connectors.server_protocol, connectors.server_instructions, connectors.status, connectors.created_at, connectors.updated_at, connectors.oauth, connectors.command, connectors.args, connectors.cwd, connectors.era, connectors.calls_per_minute, connectors.server_capabilities, connectors.items_hash, connectors.max_definition_age_s, connectors.listen, connectors.accepted_instructions, connectors.instructions_review, connector_clock.claimed_at, connector_clock.due_at, connector_clock.failures, connector_clock.run_id,
          coalesce(extract(epoch from now() - connector_clock.failing_since), 0)::double precision as failing_s,
          coalesce(connector_clock.known_until > now(), false)::boolean as known

-- name: DueShards :many

select one.shard::smallint as shard, due.connectors
from (select unnest($1::smallint[]) as shard) one
cross join lateral (
    select count(*)::integer as connectors
    from (select clock.connector_id
          from connector_clock clock
          where clock.shard = one.shard and clock.due_at <= now()
            and not exists (select from instances where instances.id = clock.claimed_by)
          limit $2) found
) due
where due.connectors > 0
order by one.shard

-- name: EndFailed :many
with ended as materialized (
    select unnest($1::uuid[]) as tenant_id,
           unnest($2::uuid[]) as connector_id,
           unnest($3::timestamptz[]) as claimed_at,
           unnest($4::uuid[]) as run_id,
           unnest($5::boolean[]) as again,
           unnest($6::timestamptz[]) as began_at,
           unnest($7::bigint[]) as took_ms,
           unnest($8::integer[]) as answered,
           unnest($9::integer[]) as silent,
           unnest($10::double precision[]) as wait_s,
           unnest($11::text[]) as code,
           unnest($12::text[]) as message,
           unnest($13::text[]) as auth_behaviour,
           unnest($14::text[]) as requests
), stamped as (
    update connectors
    set last_error_code = ended.code,
        last_error_message = ended.message,
        last_error_at = now(),
        auth_behaviour = coalesce(nullif(ended.auth_behaviour, ''), connectors.auth_behaviour)
    from ended
    join connector_clock held on held.tenant_id = ended.tenant_id and held.connector_id = ended.connector_id
    where connectors.tenant_id = ended.tenant_id and connectors.id = ended.connector_id
      and held.claimed_by = $15::uuid and held.claimed_at = ended.claimed_at
    returning connectors.tenant_id, connectors.id, connectors.enabled, connectors.sync_interval_s, held.run_id as last_run_id,
              held.checks as last_checks, held.checked_at as last_checked_at, ended.run_id, ended.again, ended.began_at, ended.answered, ended.silent,
              ended.took_ms * (ended.answered + ended.silent) as took_ms, ended.wait_s, ended.code, ended.message, ended.requests
), released as (
    update connector_clock
    set due_at = case when stamped.enabled and stamped.sync_interval_s > 0 and stamped.wait_s >= 0
                      then now() + make_interval(secs => stamped.wait_s * (1 + 0.1 * random())) end,
        claimed_by = null,
        claimed_at = null,
        failures = connector_clock.failures + 1,
        failing_since = coalesce(connector_clock.failing_since, now()),
        run_id = case when stamped.again then connector_clock.run_id else stamped.run_id end,
        checks = case when stamped.again then connector_clock.checks + 1 else 0 end,
        checked_at = now(),
        hour = date_trunc('hour', now(), 'UTC'),
        hour_failed = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_failed else 0 end + stamped.silent,
        hour_ok = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ok else 0 end + stamped.answered,
        hour_ms = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ms else 0 end + stamped.took_ms,
        hour_max_ms = greatest(case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_max_ms else 0 end, stamped.took_ms)
    from stamped
    where connector_clock.tenant_id = stamped.tenant_id and connector_clock.connector_id = stamped.id
), closed as (
    update sync_runs
    set repeats = stamped.last_checks, repeated_at = stamped.last_checked_at
    from stamped
    where sync_runs.tenant_id = stamped.tenant_id and sync_runs.id = stamped.last_run_id
      and not stamped.again and stamped.last_checks > 0
), written as (
    insert into sync_runs (tenant_id, id, connector_id, trigger, state, queued_at, started_at, finished_at, error_code, error_message)
    select stamped.tenant_id, stamped.run_id, stamped.id, 'schedule', 'error', stamped.began_at, stamped.began_at, now(),
           stamped.code, stamped.message
    from stamped
    where not stamped.again
), traced as (
    insert into sync_run_requests (tenant_id, run_id, requests)
    select stamped.tenant_id, stamped.run_id, stamped.requests::jsonb
    from stamped
    where not stamped.again and stamped.requests <> ''
)
select stamped.tenant_id, stamped.id
from stamped

-- name: EndUnchanged :many
with ended as materialized (
    select unnest($1::uuid[]) as tenant_id,
           unnest($2::uuid[]) as connector_id,
           unnest($3::timestamptz[]) as claimed_at,
           unnest($4::bytea[]) as hash,
           unnest($5::uuid[]) as run_id,
           unnest($6::timestamptz[]) as began_at,
           unnest($7::bigint[]) as took_ms,
           unnest($8::double precision[]) as known_s,
           unnest($9::integer[]) as total,
           unnest($10::integer[]) as quarantined
), stamped as (
    update connectors
    set tools_last_synced_at = now()
    from ended
    join connector_clock held on held.tenant_id = ended.tenant_id and held.connector_id = ended.connector_id
    where connectors.tenant_id = ended.tenant_id and connectors.id = ended.connector_id
      and connectors.tools_hash = ended.hash and connectors.last_error_code is null
      and held.claimed_by = $11::uuid and held.claimed_at = ended.claimed_at
    returning connectors.tenant_id, connectors.id, connectors.enabled, connectors.sync_interval_s, connectors.server_protocol,
              ended.run_id, ended.began_at, ended.took_ms, ended.known_s, ended.total, ended.quarantined
), released as (
    update connector_clock
    set due_at = case when stamped.enabled
                      then next_due(stamped.sync_interval_s) end,
        claimed_by = null,
        claimed_at = null,
        run_id = coalesce(connector_clock.run_id, stamped.run_id),
        checks = case when connector_clock.run_id is null then 0 else connector_clock.checks + 1 end,
        checked_at = now(),
        ok_at = now(),
        known_until = coalesce(now() + make_interval(secs => nullif(stamped.known_s, 0)), connector_clock.known_until),
        hour = date_trunc('hour', now(), 'UTC'),
        hour_ok = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ok else 0 end + 1,
        hour_failed = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_failed else 0 end,
        hour_ms = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ms else 0 end + stamped.took_ms,
        hour_max_ms = greatest(case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_max_ms else 0 end, stamped.took_ms)
    from stamped
    where connector_clock.tenant_id = stamped.tenant_id and connector_clock.connector_id = stamped.id
    returning connector_clock.tenant_id, connector_clock.connector_id, connector_clock.run_id,
              stamped.run_id as own_run_id, stamped.began_at, stamped.total, stamped.quarantined, stamped.server_protocol
), written as (
    insert into sync_runs (tenant_id, id, connector_id, trigger, state, queued_at, started_at, finished_at,
                           tools_total, tools_quarantined, protocol_version)
    select released.tenant_id, released.run_id, released.connector_id, 'schedule', 'ok', released.began_at, released.began_at, now(),
           released.total, released.quarantined, released.server_protocol
    from released
    where released.run_id = released.own_run_id
)
select released.tenant_id, released.connector_id
from released

-- name: LivingInstances :many
select id
from instances
order by id

-- name: LockShards :exec
select pg_advisory_xact_lock(hashtext('patchbay due'), shard)
from unnest($1::integer[]) as shard

-- name: LongQueuedRuns :many
select tenant_id, id, connector_id
from sync_runs
where state = 'queued' and queued_at < now() - make_interval(secs => $1::double precision)
order by id
limit $2

-- name: ReleaseClaims :exec
update connector_clock
set claimed_by = null,
    claimed_at = null,
    due_at = now() + make_interval(secs => given.wait_s)
from (select unnest($2::uuid[]) as tenant_id,
             unnest($3::uuid[]) as connector_id,
             unnest($4::timestamptz[]) as claimed_at,
             unnest($5::double precision[]) as wait_s) given
where connector_clock.tenant_id = given.tenant_id and connector_clock.connector_id = given.connector_id
  and connector_clock.claimed_by = $1::uuid and connector_clock.claimed_at = given.claimed_at

-- name: ReleaseForgotten :execrows
update connector_clock
set claimed_by = null,
    claimed_at = null
where connector_clock.shard between 0 and 15 and connector_clock.due_at <= now()
  and connector_clock.claimed_by = $1::uuid and connector_clock.connector_id <> all($2::uuid[])
  and not exists (
      select from sync_runs run
      where run.tenant_id = connector_clock.tenant_id and run.connector_id = connector_clock.connector_id and run.state = 'running')

-- name: TakeClockTurn :execrows
update clock_turn
set at = now()
where at < now() - interval '0.9 seconds'

-- name: DropExpiredMail :exec
delete from gateway_mail
where expires_at < now()

-- name: DropFetchedResults :exec
delete from approval_results
using approvals
where approvals.tenant_id = approval_results.tenant_id and approvals.id = approval_results.id
  and approvals.fetched_at < now() - interval '1 hour'

-- name: DropOldApprovals :exec
delete from approvals
where state in ('denied', 'lapsed', 'done', 'unknown') and asked_at < now() - interval '7 days'

-- name: DropOldCallHours :exec
delete from call_hours
where hour < now() - interval '90 days'

-- name: DropOldSyncHours :exec
delete from sync_hours
where hour < now() - interval '90 days'

-- name: DropSpentAllowances :exec
delete from tool_allowances
where until < now()

-- name: LapseApprovals :many

with due as materialized (
    select approvals.tenant_id, approvals.id
    from approvals
    where approvals.state = 'waiting' and approvals.expires_at < now()
    limit $1
    for update skip locked
), lapsed as (
    update approvals
    set state = 'lapsed'
    from due
    where approvals.tenant_id = due.tenant_id and approvals.id = due.id
    returning approvals.tenant_id, approvals.id
), ended as (
    update tool_calls
    set status = 'error',
        outcome = 'refused',
        error_code = 'approval_lapsed',
        error_message = 'Nobody decided about this call in time.',
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    from lapsed
    where tool_calls.tenant_id = lapsed.tenant_id and tool_calls.id = lapsed.id and tool_calls.completed_at is null
    returning tool_calls.tenant_id, tool_calls.id, tool_calls.completed_at, tool_calls.status
), counted as (
    select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])
    from ended
)
select ended.tenant_id, ended.id
from ended
where exists (select from counted)

-- name: LeftApprovals :many
select tenant_id, id
from approvals
where state = 'approved' and decided_at < now() - make_interval(secs => $1::double precision)
order by decided_at
limit $2

-- name: LoseApprovalsOfSilentInstances :exec
update approvals
set state = 'unknown'
where state = 'executing'
  and not exists (
      select from instances
      where instances.id = approvals.instance_id and instances.beat_at >= now() - interval '6 seconds')

-- name: RollSyncHours :exec
with rolled as (
    update connector_health
    set rolled = true
    from (
        select past.tenant_id, past.connector_id, past.hour
        from connector_health past
        where not past.rolled
        order by past.tenant_id, past.hour
        limit 5000
        for update skip locked
    ) fresh
    where connector_health.tenant_id = fresh.tenant_id and connector_health.connector_id = fresh.connector_id and connector_health.hour = fresh.hour
    returning connector_health.tenant_id, connector_health.hour, connector_health.ok, connector_health.failed
)
insert into sync_hours (tenant_id, hour, ok, failed, tools)
select rolled.tenant_id, rolled.hour, sum(rolled.ok), sum(rolled.failed),
       (select sum(connectors.tool_count) from connectors where connectors.tenant_id = rolled.tenant_id)
from rolled
group by rolled.tenant_id, rolled.hour
order by rolled.tenant_id, rolled.hour
on conflict on constraint sync_hours_pkey do update
set ok = sync_hours.ok + excluded.ok,
    failed = sync_hours.failed + excluded.failed,
    tools = case when sync_hours.hour >= now() - interval '2 hours' then excluded.tools else coalesce(sync_hours.tools, excluded.tools) end

-- name: SayUses :exec
select pg_notify('patchbay_changes', 'uses ' || $1::text || ' ' || $2::text)

-- name: Beat :exec

insert into instances (id, keyset_generation)
values ($1, $2)
on conflict (id) do update
set steady_since = case when instances.beat_at < now() - interval '4 seconds' then now() else instances.steady_since end,
    beat_at = now(),
    keyset_generation = excluded.keyset_generation

-- name: CloseAllRuns :exec
update sync_runs
set state = 'error',
    finished_at = now(),
    error_code = 'interrupted',
    error_message = 'The server stopped during this sync.'
where state = 'running'

-- name: CloseRunsOf :exec
update sync_runs
set state = 'error',
    finished_at = now(),
    error_code = 'interrupted',
    error_message = 'The server stopped during this sync.'
where state = 'running' and instance_id = $1

-- name: CloseRunsOfSilentInstances :exec
with closed as (
    update sync_runs
    set state = 'error',
        finished_at = now(),
        error_code = 'interrupted',
        error_message = 'The server stopped during this sync.'
    where sync_runs.state = 'running' and sync_runs.instance_id <> $1
      and not exists (select from instances where instances.id = sync_runs.instance_id)
    returning sync_runs.tenant_id, sync_runs.connector_id, sync_runs.instance_id
)
update connector_clock
set claimed_by = null, claimed_at = null
from closed
where connector_clock.tenant_id = closed.tenant_id and connector_clock.connector_id = closed.connector_id
  and connector_clock.claimed_by = closed.instance_id

-- name: EndInstance :exec
delete from instances
where id = $1

-- name: ForgetInstances :exec
delete from instances

-- name: ForgetSilentInstances :exec
delete from instances
where instances.beat_at < now() - interval '6 seconds' and instances.id <> $1
  and exists (
      select from instances judge
      where judge.id = $1 and judge.steady_since < now() - interval '6 seconds')

-- name: OtherInstances :one
select count(*)
from instances
where id <> $1

-- name: AcceptInvitation :execrows
update invitations
set accepted_at = now()
where tenant_id = $1
  and id = $2
  and accepted_at is null
  and revoked_at is null

-- name: InvitationByToken :one

select tenants.id, tenants.slug, tenants.name, tenants.created_at, tenants.updated_at, tenants.call_history, tenants.approval_timeout_s, tenants.history_days, tenants.default_approval, tenants.default_sync_interval_s, tenants.default_definition_age_s, tenants.default_tool_changes, tenants.default_listen, invitations.id, invitations.email, invitations.role, invitations.invited_by_name, invitations.created_at,
       invitations.sent_at, invitations.sends, invitations.expires_at, invitations.accepted_at, invitations.revoked_at
from invitations
join tenants on tenants.id = invitations.tenant_id
where invitations.token_hash = $1

-- name: LockInvitation :one
select id
from invitations
where token_hash = $1
for update

-- name: AddListeners :exec
insert into upstream_listeners (tenant_id, connector_id, version)
select connectors.tenant_id, connectors.id, connectors.version
from (select unnest($1::uuid[]) as tenant_id, unnest($2::uuid[]) as id) moved
join connectors on connectors.tenant_id = moved.tenant_id and connectors.id = moved.id
where connectors.enabled and connectors.listen = 'auto' and connectors.transport in ('streamable_http', 'sse')
  and encode(connectors.server_capabilities, 'escape') ~ '"listChanged"\s*:\s*true'
on conflict on constraint upstream_listeners_pkey do nothing

-- name: ClaimListeners :many
with due as (
    select upstream_listeners.tenant_id, upstream_listeners.connector_id, upstream_listeners.reason, upstream_listeners.state
    from upstream_listeners
    where upstream_listeners.instance_id is null and upstream_listeners.due_at <= now()
      and upstream_listeners.connector_id <> all($2::uuid[])
    order by upstream_listeners.due_at
    limit $3
    for no key update skip locked
)
update upstream_listeners
set instance_id = $1,
    state = 'waiting',
    reason = '',
    version = connectors.version,
    credential_id = null,
    credential_version = 0
from due, connectors
where upstream_listeners.tenant_id = due.tenant_id and upstream_listeners.connector_id = due.connector_id
  and connectors.tenant_id = due.tenant_id and connectors.id = due.connector_id
returning upstream_listeners.tenant_id, upstream_listeners.connector_id, due.reason, due.state = 'listening' as orphaned, upstream_listeners.failures, upstream_listeners.vain

-- name: DropListeners :exec
delete from upstream_listeners
using (select unnest($1::uuid[]) as tenant_id, unnest($2::uuid[]) as id) moved,
      connectors
where connectors.tenant_id = moved.tenant_id and connectors.id = moved.id
  and upstream_listeners.tenant_id = moved.tenant_id and upstream_listeners.connector_id = moved.id
  and not (connectors.enabled and connectors.listen = 'auto' and connectors.transport in ('streamable_http', 'sse')
           and coalesce(encode(connectors.server_capabilities, 'escape') ~ '"listChanged"\s*:\s*true', false))

-- name: HeldListeners :many
select upstream_listeners.tenant_id,
       upstream_listeners.connector_id,
       (connectors.version <> upstream_listeners.version
        or upstream_listeners.credential_id is not null
           and (credentials.id is null or credentials.status <> 'active'
                or credentials.version <> upstream_listeners.credential_version))::boolean as stale
from upstream_listeners
join connectors on connectors.tenant_id = upstream_listeners.tenant_id and connectors.id = upstream_listeners.connector_id
left join credentials on credentials.tenant_id = upstream_listeners.tenant_id and credentials.id = upstream_listeners.credential_id
where upstream_listeners.instance_id = $1

-- name: ListenersToReview :many

select connectors.tenant_id, connectors.id
from connectors
left join upstream_listeners
    on upstream_listeners.tenant_id = connectors.tenant_id and upstream_listeners.connector_id = connectors.id
where (upstream_listeners.connector_id is not null)
          <> (connectors.enabled and connectors.listen = 'auto' and connectors.transport in ('streamable_http', 'sse')
              and coalesce(encode(connectors.server_capabilities, 'escape') ~ '"listChanged"\s*:\s*true', false))
   or upstream_listeners.instance_id is null and upstream_listeners.version <> connectors.version
limit $1

-- name: ReleaseListeners :exec
update upstream_listeners
set instance_id = null,
    state = 'waiting',
    since = now(),
    due_at = now()
where instance_id = $1

-- name: RenewListeners :exec
update upstream_listeners
set state = 'waiting',
    since = now(),
    due_at = now(),
    reason = '',
    version = connectors.version,
    failures = 0,
    vain = 0
from (select unnest($1::uuid[]) as tenant_id, unnest($2::uuid[]) as id) moved,
     connectors
where connectors.tenant_id = moved.tenant_id and connectors.id = moved.id
  and upstream_listeners.tenant_id = moved.tenant_id and upstream_listeners.connector_id = moved.id
  and upstream_listeners.instance_id is null and upstream_listeners.version <> connectors.version

-- name: RetakeListeners :many
update upstream_listeners
set instance_id = $1
from (select unnest($2::uuid[]) as tenant_id, unnest($3::uuid[]) as id) open
where upstream_listeners.tenant_id = open.tenant_id and upstream_listeners.connector_id = open.id
  and upstream_listeners.instance_id is null and upstream_listeners.state = 'listening'
returning upstream_listeners.tenant_id, upstream_listeners.connector_id

-- name: WakeListeners :exec
update upstream_listeners
set state = 'waiting',
    since = now(),
    due_at = now(),
    reason = ''
from (select unnest($1::uuid[]) as tenant_id, unnest($2::uuid[]) as id) moved
where upstream_listeners.tenant_id = moved.tenant_id and upstream_listeners.connector_id = moved.id
  and upstream_listeners.instance_id is null and upstream_listeners.reason = 'unauthorized'

-- name: ConnectLink :one
select connect_links.tenant_id, connect_links.token_hash, connect_links.connector_id, connect_links.agent_id, connect_links.made_by, connect_links.return_to, connect_links.created_at, connect_links.expires_at
from connect_links
where token_hash = $1 and expires_at > now()

-- name: TakeConnectLink :one
delete from connect_links
where token_hash = $1 and expires_at > now()
returning tenant_id, token_hash, connector_id, agent_id, made_by, return_to, created_at, expires_at

-- name: TakeFlow :one

delete from oauth_flows
where state_hash = $1 and expires_at > now()
returning tenant_id, id, state_hash, browser_hash, connector_id, agent_id, started_by, origin, metadata, client_id, resource, scopes, redirect_uri, return_to, sealed, created_at, expires_at

-- name: APIKey :one
select tenants.id, tenants.slug, tenants.name, tenants.created_at, tenants.updated_at, tenants.call_history, tenants.approval_timeout_s, tenants.history_days, tenants.default_approval, tenants.default_sync_interval_s, tenants.default_definition_age_s, tenants.default_tool_changes, tenants.default_listen, api_keys.tenant_id, api_keys.id, api_keys.name, api_keys.role, api_keys.prefix, api_keys.secret_mac, api_keys.created_at, api_keys.expires_at, api_keys.last_used_at, api_keys.revoked_at, api_keys.created_by_name
from api_keys
join tenants on tenants.id = api_keys.tenant_id
where api_keys.id = $1

-- name: AgentToken :one
select agent_tokens.tenant_id, agent_tokens.id, agent_tokens.agent_id, agent_tokens.name, agent_tokens.prefix, agent_tokens.secret_mac, agent_tokens.created_at, agent_tokens.expires_at, agent_tokens.last_used_at
from agent_tokens
where agent_tokens.id = $1

-- name: ChangePassword :execrows
update users
set password_hash = $1, password_set_at = clock_timestamp(), updated_at = now()
where id = $2

-- name: ClearSignInFailures :exec
delete from sign_in_failures
where account = $1

-- name: ForgetUserWithoutTenant :exec
delete from users
where email = $1
  and not exists (select from memberships where memberships.user_id = users.id)

-- name: LockUserByEmail :exec
select id
from users
where email = $1
for update

-- name: Membership :one
select tenants.id, tenants.slug, tenants.name, tenants.created_at, tenants.updated_at, tenants.call_history, tenants.approval_timeout_s, tenants.history_days, tenants.default_approval, tenants.default_sync_interval_s, tenants.default_definition_age_s, tenants.default_tool_changes, tenants.default_listen, memberships.role, users.email, users.name, users.password_set_at
from memberships
join tenants on tenants.id = memberships.tenant_id
join users on users.id = memberships.user_id
where memberships.user_id = $1 and memberships.tenant_id = $2

-- name: Memberships :many
select tenants.id, tenants.slug, tenants.name, tenants.created_at, tenants.updated_at, tenants.call_history, tenants.approval_timeout_s, tenants.history_days, tenants.default_approval, tenants.default_sync_interval_s, tenants.default_definition_age_s, tenants.default_tool_changes, tenants.default_listen, memberships.role, users.email, users.name, users.password_set_at
from memberships
join tenants on tenants.id = memberships.tenant_id
join users on users.id = memberships.user_id
where memberships.user_id = $1
order by lower(tenants.name), tenants.id

-- name: RecordSignInFailure :exec
with swept as (
    delete from sign_in_failures
    where sign_in_failures.id in (
        select oldest.id
        from (select f.id, f.at from sign_in_failures f order by f.id limit 10) oldest
        where oldest.at < now() - interval '1 day')
)
insert into sign_in_failures (account, address)
values ($1, $2)

-- name: Seen :exec
update memberships
set seen_at = now()
where tenant_id = $1
  and user_id = $2
  and (seen_at is null or seen_at < now() - interval '5 minutes')

-- name: SetPasswordHash :execrows
update users
set password_hash = $1, updated_at = now()
where id = $2

-- name: SignInFailures :one
select (select count(*)
        from (select from sign_in_failures f
              where f.account = $1 and f.at > $2
              limit 100) a)::bigint as by_account,
       (select count(*)
        from (select from sign_in_failures f
              where f.address = $3 and f.at > $2
              limit 100) b)::bigint as by_address

-- name: SignedIn :execrows
update users
set signed_in_at = now()
where id = $1

-- name: TouchAPIKey :exec
update api_keys
set last_used_at = now()
where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')

-- name: TouchAgentToken :exec
update agent_tokens
set last_used_at = now()
where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')

-- name: UserByEmail :one

select id, email, name, password_hash
from users
where email = $1

-- name: DropDeadRegistrations :execrows
delete from client_registrations
where secret_expires_at < now() - interval '1 day'

-- name: DropExpiredConnectLinks :execrows
delete from connect_links
where expires_at < now()

-- name: DropOldSignInFailures :execrows
delete from sign_in_failures
where at < now() - interval '1 day'

-- name: DropSpentSetupLinks :execrows
delete from setup_links
where exists (
    select from memberships
    where memberships.tenant_id = setup_links.tenant_id and memberships.role = 'owner')

-- name: DropStaleFlows :execrows
delete from oauth_flows
where expires_at < now()

-- name: HistoryTenants :many

select tenants.id, tenants.history_days
from tenants
where tenants.id > $1::uuid
order by tenants.id
limit $2

-- name: IdleGrants :many
select credentials.tenant_id, credentials.id, credentials.connector_id, credentials.agent_id, credentials.version, credentials.updated_at,
       coalesce(credentials.grant_meta -> 'server' ->> 'issuer', '')::text as issuer
from credentials
join connectors on connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id
where credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed')
  and (credentials.updated_at, credentials.id) > ($1::timestamptz, $2::uuid)
  and credentials.updated_at < now() - interval '1 hour'
  and (credentials.status = 'refresh_failed'
       or credentials.updated_at < now() - interval '1 day' - make_interval(secs => abs(hashtext(credentials.id::text || credentials.version) % 7200)))
  and coalesce(credentials.last_used_at, '-infinity') < now() - interval '1 day'
  and (credentials.grant_meta ->> 'refreshable')::boolean is true
  and (credentials.lease_until is null or credentials.lease_until < now())
  and (credentials.retry_at is null or credentials.retry_at <= now())
  and connectors.enabled and connectors.auth_type = 'oauth2'
  and (connectors.credential_mode = 'shared') = (credentials.agent_id is null)
order by credentials.updated_at, credentials.id
limit $3

-- name: DropExpiredFlows :exec
delete from oauth_flows
where expires_at < now()

-- name: InstancesOfGeneration :one
select count(*) as alive,
       count(*) filter (where keyset_generation >= $1::integer) as ready
from instances
where beat_at >= now() - interval '6 seconds'

-- name: IsRetiredKey :one
select exists (select from retired_keys where prefix = $1)

-- name: KeysetDates :one
select created_at, updated_at
from keysets
where purpose = 'seal'

-- name: KeysetGeneration :one
select generation
from keysets
where purpose = 'seal'

-- name: ReplaceSealingKeys :one
update keysets
set wrapped = $1,
    generation = generation + 1,
    updated_at = now()
where purpose = 'seal'
returning generation

-- name: RetireKey :exec
insert into retired_keys (prefix)
values ($1)
on conflict do nothing

-- name: TryLockRotation :one

select pg_try_advisory_xact_lock(hashtextextended('patchbay key rotation', 0))

-- name: TryLockSealed :one
select pg_try_advisory_xact_lock(hashtextextended('patchbay sealed', 0))

-- name: DeleteExpiredSessions :exec
delete from sessions
where expiry < now()

-- name: DeleteSession :exec
delete from sessions
where token = $1

-- name: Keysets :many
select purpose, wrapped, generation
from keysets
order by purpose

-- name: LockKeysets :exec

select pg_advisory_xact_lock(hashtextextended('patchbay keysets', 0))

-- name: SaveKeyset :exec
insert into keysets (purpose, wrapped)
values ($1, $2)

-- name: SaveSession :exec
insert into sessions (token, data, expiry)
values ($1, $2, $3)
on conflict (token) do update set data = excluded.data, expiry = excluded.expiry

-- name: SessionData :one
select data
from sessions
where token = $1 and expiry > now()

-- name: WrappedKeysets :many
select purpose, wrapped
from keysets
order by purpose

-- name: CreateTenant :one

insert into tenants (id, slug, name)
values ($1, $2, $3)
on conflict (slug) do nothing
returning tenants.id, tenants.slug, tenants.name, tenants.created_at, tenants.updated_at, tenants.call_history, tenants.approval_timeout_s, tenants.history_days, tenants.default_approval, tenants.default_sync_interval_s, tenants.default_definition_age_s, tenants.default_tool_changes, tenants.default_listen

-- name: DropSetupLinks :exec
delete from setup_links
where tenant_id = $1

-- name: HasOwner :one
select exists (
    select from memberships
    where tenant_id = $1 and role = 'owner')

-- name: LockTenant :one
select tenants.id
from tenants
where tenants.id = $1
for update

-- name: SaveSetupLink :exec
insert into setup_links (token_hash, tenant_id)
values ($1, $2)

-- name: SetupLink :one
select setup_links.tenant_id
from setup_links
where setup_links.token_hash = $1
  and not exists (
      select from memberships
      where memberships.tenant_id = setup_links.tenant_id and memberships.role = 'owner')

-- name: TakeSetupLink :execrows
delete from setup_links
where token_hash = $1

-- name: TenantBySlug :one
select tenants.id, tenants.slug, tenants.name, tenants.created_at, tenants.updated_at, tenants.call_history, tenants.approval_timeout_s, tenants.history_days, tenants.default_approval, tenants.default_sync_interval_s, tenants.default_definition_age_s, tenants.default_tool_changes, tenants.default_listen
from tenants
where slug = $1

-- name: Tenants :many
select tenants.id, tenants.slug, tenants.name, tenants.created_at, tenants.updated_at, tenants.call_history, tenants.approval_timeout_s, tenants.history_days, tenants.default_approval, tenants.default_sync_interval_s, tenants.default_definition_age_s, tenants.default_tool_changes, tenants.default_listen
from tenants
order by lower(name), id

-- name: DropOldDeliveries :exec
delete from webhook_deliveries
where created_at < now() - interval '30 days'

-- name: DropOldNotices :exec

delete from notices
where at < now() - interval '90 days'

-- name: LapsingAccounts :many
select credentials.tenant_id, credentials.id, connectors.id as connector_id, connectors.name as connector, connectors.slug as connector_slug,
       coalesce(agents.name, '')::text as agent, coalesce(agents.slug, '')::text as agent_slug, lapses.at::timestamptz as lapses_at
from credentials
join connectors on connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id
left join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id
cross join lateral (
    select case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                else credentials.expires_at end as at
) lapses
where credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed') and connectors.enabled
  and lapses.at < now() + make_interval(secs => $1::double precision) and lapses.at > now() - interval '1 day'
  and not exists (
      select from notices
      where notices.tenant_id = credentials.tenant_id and notices.subject_key = 'lapsing ' || credentials.id
        and notices.at > now() - make_interval(secs => $1::double precision))
order by credentials.tenant_id, lapses.at, credentials.id
limit $2

-- name: NewlyDown :many
select connectors.tenant_id, connectors.id, connectors.name, connectors.slug, connector_clock.failing_since, connectors.last_error_message
from connector_clock
join connectors on connectors.tenant_id = connector_clock.tenant_id and connectors.id = connector_clock.connector_id
where connector_clock.failing_since < now() - make_interval(secs => $1::double precision)
  and connectors.enabled and connectors.last_error_code not in ('unauthorized', 'credential_required')
  and not exists (
      select from notices
      where notices.tenant_id = connectors.tenant_id and notices.subject_key = 'down ' || connectors.id
        and notices.at > connector_clock.failing_since)
order by connectors.tenant_id, connectors.id
limit $2

-- name: NewlyRecovered :many
select connectors.tenant_id, connectors.id, connectors.name, connectors.slug, max((down.data ->> 'failing_since')::timestamptz)::timestamptz as failing_since
from notices down
join connectors on connectors.tenant_id = down.tenant_id and 'down ' || connectors.id = down.subject_key
join connector_clock on connector_clock.tenant_id = connectors.tenant_id and connector_clock.connector_id = connectors.id
where down.kind = 'connector.down' and connector_clock.failing_since is null and connector_clock.ok_at > down.at
  and not exists (
      select from notices again
      where again.tenant_id = down.tenant_id and again.subject_key = 'recovered ' || connectors.id and again.at > down.at)
group by connectors.tenant_id, connectors.id
order by connectors.tenant_id, connectors.id
limit $1

-- name: NewlyRefused :many
select connectors.tenant_id, connectors.id, connectors.name, connectors.slug, connectors.last_error_message
from connector_clock
join connectors on connectors.tenant_id = connector_clock.tenant_id and connectors.id = connector_clock.connector_id
where connector_clock.failing_since < now() - make_interval(secs => $1::double precision)
  and connectors.enabled and connectors.last_error_code in ('unauthorized', 'credential_required')
  and not exists (
      select from notices
      where notices.tenant_id = connectors.tenant_id and notices.subject_key = 'needs_auth ' || connectors.id || ' '
        and notices.at > coalesce(connector_clock.ok_at, '-infinity'))
order by connectors.tenant_id, connectors.id
limit $2

-- name: OverdueDeliveries :many
select tenant_id, id, tries
from webhook_deliveries
where state = 'waiting' and next_at < now() - make_interval(secs => $1::double precision)
order by next_at, tenant_id, id
limit $2

-- name: TaskCalls :many

select tenant_id, id, agent_id, agent_slug, connector_id, connector_slug, kind, tool, exposed_name, source, caller, instance_id, status, outcome,
       error_code, error_message, is_error, approved_by, (case when length(task) <= 16384 then task end)::bytea as task, truncated, request_bytes,
       response_bytes, started_at, completed_at, duration_us
from tool_calls
where tenant_id = $1
  and task_handle is not null
  and ($2::uuid is null or agent_id = $2)
  and ($3::uuid is null or connector_id = $3)
  and ($4::text = '' or status = $4)
  and ($5::text = '' or tool = $5 or exposed_name = $5)
  and ($6::uuid is null or id < $6)
order by id desc
limit $7

-- name: ConfigureTenant :execrows
update tenants
set call_history = $1, approval_timeout_s = $2, updated_at = now()
where tenants.id = $3

-- name: RecordEvent :exec
insert into audit_events (tenant_id, id, actor_type, actor_id, actor_name, action, target, detail, request_id, ip)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: RenameTenant :execrows
update tenants
set name = $1, updated_at = now()
where tenants.id = $2

-- name: SetTenantDefaults :execrows
update tenants
set default_approval = $1,
    default_sync_interval_s = $2,
    default_definition_age_s = $3,
    default_tool_changes = $4,
    default_listen = $5,
    updated_at = now()
where tenants.id = $6

-- name: Tenant :one
select tenants.id, tenants.slug, tenants.name, tenants.created_at, tenants.updated_at, tenants.call_history, tenants.approval_timeout_s, tenants.history_days, tenants.default_approval, tenants.default_sync_interval_s, tenants.default_definition_age_s, tenants.default_tool_changes, tenants.default_listen
from tenants
where tenants.id = $1

-- name: EndCallTask :one
with ended as (
    update tool_calls
    set task = $1,
        status = $2,
        outcome = $3,
        error_code = $4,
        error_message = $5,
        is_error = $6,
        content = $7,
        structured = $8,
        truncated = $9,
        response_bytes = $10,
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    where tenant_id = $11 and id = $12 and completed_at is null
    returning tool_calls.tenant_id, tool_calls.completed_at, tool_calls.status
)
select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])::bigint as calls
from ended

-- name: EndPendingCall :one
with ended as (
    update tool_calls
    set status = $1,
        outcome = $2,
        error_code = $3,
        error_message = $4,
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    where tenant_id = $5 and id = $6 and status = 'pending_approval'
    returning tool_calls.tenant_id, tool_calls.completed_at, tool_calls.status
)
select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])::bigint as calls
from ended

-- name: InsertPendingCall :execrows
with this_agent as materialized (
    select agents.id from agents where agents.tenant_id = $1 and agents.id = $15 for key share
), this_connector as materialized (
    select connectors.id from connectors where connectors.tenant_id = $1 and connectors.id = $16 for key share
)
insert into tool_calls (tenant_id, id, agent_id, agent_slug, connector_id, connector_slug, kind, tool, exposed_name, source, caller, token_id,
    definition_hash, status, arguments, truncated, request_bytes, started_at)
select $1, $2, this_agent.id, $3, this_connector.id, $4, 'tool', $5, $6, $7, $8, $9,
    $10, 'pending_approval', $11, $12, $13, $14
from this_agent, this_connector

-- name: MarkUndelivered :exec
update tool_calls
set error_code = 'undelivered',
    error_message = 'The agent''s client did not take the answer.'
where tenant_id = $1 and id = $2 and completed_at is not null and error_code = ''

-- name: SaveCallTask :exec
update tool_calls
set task = $1,
    task_handle = coalesce(nullif($2::text, ''), task_handle),
    instance_id = null
where tenant_id = $3 and id = $4 and completed_at is null

-- name: StartPendingCall :exec
update tool_calls
set status = 'running',
    instance_id = $1,
    approved_by = $2
where tenant_id = $3 and id = $4 and status = 'pending_approval'

-- name: ToolCall :one

select tool_calls.tenant_id, tool_calls.id, tool_calls.agent_id, tool_calls.agent_slug, tool_calls.connector_id, tool_calls.connector_slug, tool_calls.kind, tool_calls.tool, tool_calls.exposed_name, tool_calls.source, tool_calls.caller, tool_calls.token_id, tool_calls.credential_id, tool_calls.definition_hash, tool_calls.instance_id, tool_calls.status, tool_calls.outcome, tool_calls.error_code, tool_calls.error_message, tool_calls.is_error, tool_calls.approved_by, tool_calls.arguments, tool_calls.content, tool_calls.structured, tool_calls.task, tool_calls.truncated, tool_calls.request_bytes, tool_calls.response_bytes, tool_calls.started_at, tool_calls.completed_at, tool_calls.duration_us, tool_calls.task_handle, tool_calls.progress
from tool_calls
where tenant_id = $1 and id = $2

-- name: ToolCalls :many
select tenant_id, id, agent_id, agent_slug, connector_id, connector_slug, kind, tool, exposed_name, source, caller, token_id, credential_id,
       definition_hash, instance_id, status, outcome, error_code, error_message, is_error, approved_by,
       (case when length(arguments) <= 16384 then arguments end)::bytea as arguments,
       (case when length(task) <= 16384 then task end)::bytea as task,
       progress, truncated, request_bytes, response_bytes, started_at, completed_at, duration_us
from tool_calls
where tenant_id = $1
  and ($2::uuid is null or agent_id = $2)
  and ($3::uuid is null or connector_id = $3)
  and ($4::text = '' or status = $4)
  and ($5::text = '' or tool = $5 or exposed_name = $5)
  and ($6::uuid is null or id < $6)
order by id desc
limit $7

-- name: AcceptCosmetic :many
with decided as (
    update tool_changes
    set state = 'accepted', decided_by = $2, decided_at = now()
    from tools
    where tool_changes.tenant_id = $1 and tool_changes.state = 'waiting' and tool_changes.risk = 'none'
      and tool_changes.connector_id = any($3::uuid[])
      and tools.tenant_id = $1 and tools.connector_id = tool_changes.connector_id and tools.name = tool_changes.tool
      and tools.current_hash = tool_changes.after_hash and tools.review in ('changed', 'new') and tools.removed_at is null
    returning tool_changes.connector_id, tool_changes.tool
)
update tools
set accepted_hash = current_hash, review = 'accepted'
from decided
where tools.tenant_id = $1 and tools.connector_id = decided.connector_id and tools.name = decided.tool
returning tools.connector_id, tools.name

-- name: AcceptCosmeticInstructions :many
with decided as (
    update tool_changes
    set state = 'accepted', decided_by = $2, decided_at = now()
    from connectors
    where tool_changes.tenant_id = $1 and tool_changes.state = 'waiting' and tool_changes.risk = 'none' and tool_changes.tool = ''
      and tool_changes.connector_id = any($3::uuid[])
      and connectors.tenant_id = $1 and connectors.id = tool_changes.connector_id and connectors.instructions_review = 'changed'
    returning tool_changes.connector_id
)
update connectors
set accepted_instructions = null, instructions_review = 'accepted'
from decided
where connectors.tenant_id = $1 and connectors.id = decided.connector_id
returning connectors.id

-- name: AcceptInstructions :exec
update connectors
set accepted_instructions = null, instructions_review = 'accepted'
where tenant_id = $1 and id = $2

-- name: AcceptTool :exec
update tools
set accepted_hash = current_hash, review = 'accepted'
where tenant_id = $1 and connector_id = $2 and name = $3

-- name: ChangeMarks :many
select id, state, decided_at
from tool_changes
where tenant_id = $1
  and ($2::text = '' or state = $2)
  and ($3::uuid is null or connector_id = $3)
order by id desc
limit $4

-- name: Changes :many
with page as (
    select listed.id, listed.connector_id
    from tool_changes listed
    where listed.tenant_id = $1
      and ($2::text = '' or listed.state = $2)
      and ($3::uuid is null or listed.connector_id = $3)
      and ($4::uuid is null or listed.id < $4)
    order by listed.id desc
    limit $5
), called as (
    select recent.connector_id, coalesce(recent.tool, '') as tool, count(*) as calls -- without one: of all its tools
    from (select distinct page.connector_id from page) concerned
    cross join lateral (
        select tool_calls.connector_id, tool_calls.tool
        from tool_calls
        where tool_calls.tenant_id = $1 and tool_calls.connector_id = concerned.connector_id
          and tool_calls.id > $6::uuid and tool_calls.kind = 'tool'
        order by tool_calls.id desc
        limit 100000) recent
    group by grouping sets ((recent.connector_id, recent.tool), (recent.connector_id))
)
select tool_changes.id, tool_changes.connector_id, connectors.slug, connectors.name as connector_name, tool_changes.tool,
       tool_changes.sync_run_id, tool_changes.seen_at, tool_changes.before_hash, tool_changes.after_hash, tool_changes.kinds,
       tool_changes.risk, tool_changes.state, tool_changes.decided_by, tool_changes.decided_at,
       (select count(*)
        from agent_grants
        where agent_grants.tenant_id = $1 and agent_grants.connector_id = tool_changes.connector_id
          and (agent_grants.all_tools or tool_changes.tool = '' or tool_changes.tool = any(agent_grants.tools)))::bigint as agents,
       coalesce(called.calls, 0)::bigint as calls
from page
join tool_changes on tool_changes.tenant_id = $1 and tool_changes.id = page.id
join connectors on connectors.tenant_id = $1 and connectors.id = page.connector_id
left join called on called.connector_id = page.connector_id and called.tool = tool_changes.tool
order by tool_changes.id desc

-- name: ConnectorName :one
select slug, name
from connectors
where tenant_id = $1 and id = $2

-- name: DecideChange :one
with decided as (
    update tool_changes
    set state = $1, decided_by = $2, decided_at = now()
    where tool_changes.tenant_id = $3 and tool_changes.connector_id = $4 and tool_changes.tool = $5
      and tool_changes.state = 'waiting'
    returning tool_changes.id
), again as (
    insert into tool_changes (tenant_id, id, connector_id, tool, sync_run_id, before_hash, after_hash, kinds, risk, state, decided_by, decided_at)
    select last.tenant_id, $6, last.connector_id, last.tool, last.sync_run_id, last.before_hash, last.after_hash, last.kinds, last.risk,
           $1, $2, now()
    from tool_changes last
    where last.tenant_id = $3 and last.connector_id = $4 and last.tool = $5 and last.after_hash = $7
      and not exists (select from decided)
    order by last.id desc
    limit 1
    returning tool_changes.id
)
select id from decided
union all
select id from again

-- name: DefinitionsWithin :many
with measured as (
    select hash, raw, sum(length(raw)) over (order by hash) as bytes
    from tool_definitions
    where tenant_id = $2 and hash = any($3::bytea[])
)
select hash, raw
from measured
where bytes <= $1::bigint

-- name: InsertChanges :exec
insert into tool_changes (tenant_id, id, connector_id, tool, sync_run_id, before_hash, after_hash, kinds, risk, state)
select $1, new.id, $2, new.tool, $3, new.before_hash, new.after_hash, string_to_array(new.kinds, ','), new.risk, new.state
from (select unnest($4::uuid[]) as id,
             unnest($5::text[]) as tool,
             unnest($6::bytea[]) as before_hash,
             unnest($7::bytea[]) as after_hash,
             unnest($8::text[]) as kinds,
             unnest($9::text[]) as risk,
             unnest($10::text[]) as state) new

-- name: LockCosmetic :many
select connectors.id
from connectors
where connectors.tenant_id = $1
  and connectors.id in (
      select tool_changes.connector_id
      from tool_changes
      where tool_changes.tenant_id = $1 and tool_changes.state = 'waiting' and tool_changes.risk = 'none')
order by connectors.id
for no key update of connectors

-- name: LockInstructions :one
select server_instructions, accepted_instructions, instructions_review
from connectors
where tenant_id = $1 and id = $2
for no key update

-- name: LockTool :one
with locked as (
    select connectors.id
    from connectors
    where connectors.tenant_id = $1 and connectors.id = $2
    for no key update of connectors
)
select tools.current_hash, tools.accepted_hash, tools.review, (tools.removed_at is not null)::boolean as removed
from tools
join locked on locked.id = tools.connector_id
where tools.tenant_id = $1 and tools.connector_id = $2 and tools.name = $3
for update of tools

-- name: OtherTools :many
select connectors.slug, tools.name
from tools
join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.connector_id
where tools.tenant_id = $1 and tools.connector_id <> $2 and tools.removed_at is null
  and ($3::boolean or tools.name = any($4::text[]))
order by tools.name = any($4::text[]) desc, tools.name, connectors.slug
limit $5

-- name: RejectInstructions :exec
update connectors
set instructions_review = 'rejected'
where tenant_id = $1 and id = $2

-- name: RejectTool :exec
update tools
set review = 'rejected'
where tenant_id = $1 and connector_id = $2 and name = $3

-- name: SupersedeChanges :exec

update tool_changes
set state = 'superseded'
where tenant_id = $1 and connector_id = $2 and tool = any($3::text[]) and state = 'waiting'

-- name: ToolChanges :many
with reach as (
    select (select count(*)
            from agent_grants
            where agent_grants.tenant_id = $1 and agent_grants.connector_id = $2
              and (agent_grants.all_tools or $3::text = '' or $3::text = any(agent_grants.tools))) as agents,
           (select count(*)
            from (select tool_calls.tool
                  from tool_calls
                  where tool_calls.tenant_id = $1 and tool_calls.connector_id = $2
                    and tool_calls.id > $7::uuid and tool_calls.kind = 'tool'
                  order by tool_calls.id desc
                  limit 100000) recent
            where $3::text in ('', recent.tool)) as calls
)
select tool_changes.id, tool_changes.connector_id, connectors.slug, connectors.name as connector_name, tool_changes.tool,
       tool_changes.sync_run_id, tool_changes.seen_at, tool_changes.before_hash, tool_changes.after_hash, tool_changes.kinds,
       tool_changes.risk, tool_changes.state, tool_changes.decided_by, tool_changes.decided_at,
       reach.agents::bigint as agents, reach.calls::bigint as calls
from tool_changes
join connectors on connectors.tenant_id = tool_changes.tenant_id and connectors.id = tool_changes.connector_id
cross join reach
where tool_changes.tenant_id = $1 and tool_changes.connector_id = $2 and tool_changes.tool = $3
  and ($4::uuid is null or tool_changes.id < $4)
  and ($5::uuid is null or tool_changes.id = $5)
order by tool_changes.id desc
limit $6

-- name: ToolsSyncedAt :one
select tools_last_synced_at
from connectors
where tenant_id = $1 and id = $2

-- name: WaitingKinds :one
select kinds
from tool_changes
where tenant_id = $1 and connector_id = $2 and tool = $3 and state = 'waiting'

-- name: ToolsCalled :many

with called as materialized ( -- unordered: sorting the calls would cost more than counting them
    select tool_calls.connector_id, tool_calls.tool, count(*) as calls, max(tool_calls.started_at)::timestamptz as last_at
    from tool_calls
    where tool_calls.tenant_id = $1 and tool_calls.agent_id = $2::uuid and tool_calls.id >= $3::uuid
      and tool_calls.kind = 'tool' and tool_calls.connector_id is not null
    group by tool_calls.connector_id, tool_calls.tool
)
select called.connector_id, called.tool, called.calls, called.last_at
from called
order by called.connector_id, called.tool

-- name: ToolsNewFor :many
select tools.connector_id, tools.name
from agent_grants
join tools on tools.tenant_id = agent_grants.tenant_id and tools.connector_id = agent_grants.connector_id
where agent_grants.tenant_id = $1 and agent_grants.agent_id = $2 and tools.first_seen_at > $3
order by tools.connector_id, tools.name

-- name: CurateTools :exec
update tools
set enabled = new.enabled, alias = new.alias, agent_text = new.agent_text, tags = string_to_array(new.tags, ' ')
from (select unnest($3::text[]) as name,
             unnest($4::boolean[]) as enabled,
             unnest($5::text[]) as alias,
             unnest($6::text[]) as agent_text,
             unnest($7::text[]) as tags) new
where tools.tenant_id = $1 and tools.connector_id = $2 and tools.name = new.name

-- name: CuratedTools :many
select name, enabled, alias, agent_text, tags, (removed_at is not null)::boolean as removed
from tools
where tenant_id = $1 and connector_id = $2
order by name

-- name: Definitions :many
select hash, raw
from tool_definitions
where tenant_id = $1 and hash = any($2::bytea[])

-- name: ForgetQuarantined :exec
delete from quarantined_tools
where tenant_id = $1 and connector_id = $2

-- name: FreeAliases :exec
update tools
set alias = ''
where tenant_id = $1 and connector_id = $2 and name = any($3::text[]) and alias <> ''

-- name: InsertDefinitions :exec
with known as materialized (
    select tool_definitions.hash
    from tool_definitions
    where tool_definitions.tenant_id = $1 and tool_definitions.hash = any($2::bytea[])
    order by tool_definitions.hash
    for key share
)
insert into tool_definitions (tenant_id, hash, raw, title, description, search)
select $1, new.hash, new.raw, new.title, new.description,
       setweight(to_tsvector('simple', new.words), 'A')
       || setweight(to_tsvector('english', new.words), 'A')
       || setweight(to_tsvector('english', left(new.title, 1000)), 'B')
       || setweight(to_tsvector('english', left(new.description, 20000)), 'C')
from (select unnest($2::bytea[]) as hash,
             unnest($3::bytea[]) as raw,
             unnest($4::text[]) as title,
             unnest($5::text[]) as description,
             unnest($6::text[]) as words) new
where not exists (select from known where known.hash = new.hash)
on conflict (tenant_id, hash) do nothing

-- name: KeepQuarantined :exec
insert into quarantined_tools (tenant_id, connector_id, position, name, reason, raw)
select $1, $2, new.position, nullif(new.name, ''), new.reason, new.raw
from (select unnest($3::integer[]) as position,
             unnest($4::text[]) as name,
             unnest($5::text[]) as reason,
             unnest($6::bytea[]) as raw) new

-- name: LockConnector :one
select id
from connectors
where tenant_id = $1 and id = $2
for no key update

-- name: Quarantined :many
with page as (
    select q.position, q.name, q.reason, q.raw
    from quarantined_tools q
    where q.tenant_id = $2 and q.connector_id = $3 and q.position > $4
    order by q.position
    limit $5
), measured as (
    select page.position, page.name, page.reason, page.raw,
           row_number() over so_far as nth,
           sum(length(page.raw)) over so_far as bytes,
           lead(page.position) over so_far is not null as more
    from page
    window so_far as (order by page.position)
)
select measured.position, measured.name, measured.reason, measured.raw, measured.more::boolean as more
from measured
where measured.nth = 1 or measured.bytes <= $1::bigint
order by measured.position

-- name: RemoveTools :exec
update tools
set removed_at = now(),
    last_seen_at = coalesce(connectors.tools_last_synced_at, tools.last_seen_at)
from connectors
where tools.tenant_id = $1 and tools.connector_id = $2 and tools.name = any($3::text[])
  and connectors.tenant_id = $1 and connectors.id = $2
  and tools.removed_at is null

-- name: Tool :one
select tools.tenant_id, tools.connector_id, tools.name, tools.current_hash, tools.accepted_hash, tools.review, tools.enabled, tools.first_seen_at, tools.last_seen_at, tools.changed_at, tools.removed_at, tools.alias, tools.agent_text, tools.tags,
       exists (select from tools other
               where other.tenant_id = $1 and other.connector_id = $2
                 and other.alias = $3 and other.alias <> '' and other.name <> $3 and other.removed_at is null) as shadowed,
       connectors.slug, connectors.name as connector_name, connectors.tools_last_synced_at,
       definition.raw, definition.title, definition.description
from tools
join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.connector_id
join tool_definitions definition on definition.tenant_id = tools.tenant_id and definition.hash = tools.current_hash
where tools.tenant_id = $1 and tools.connector_id = $2 and tools.name = $3

-- name: ToolStates :many
select name, current_hash, accepted_hash, review, (removed_at is not null)::boolean as removed
from tools
where tenant_id = $1 and connector_id = $2
order by name

-- name: ToolTags :many
select distinct tag::text as tag
from tools, unnest(tools.tags) tag
where tools.tenant_id = $1 and tools.connector_id = $2
order by tag
limit 200

-- name: Tools :many
with asked as materialized (
    select lower($2::text) as prefix,
           case when numnode(websearch_to_tsquery('english', $3::text)) > 0
                then websearch_to_tsquery('english', $3::text)
                else websearch_to_tsquery('simple', $3::text) -- "all", "on": words of names, and nothing to English
           end as words
), found as materialized (
    select definition.hash
    from tool_definitions definition
    where definition.tenant_id = $4 and $3::text <> '' and definition.search @@ (select asked.words from asked)
), listed as materialized (
    select tools.connector_id, tools.name, tools.current_hash, tools.review, tools.enabled, tools.first_seen_at,
           tools.last_seen_at, tools.changed_at, tools.removed_at, tools.alias, tools.agent_text, tools.tags
    from tools
    where tools.tenant_id = $4
      and ($5::uuid is null or tools.connector_id = $5)
      and ($6::boolean or tools.removed_at is null)
      and ($7::text = '' or $7::text = any(tools.tags))
      and ($8::text = ''
           or $8::text = 'enabled' and tools.enabled
           or $8::text = 'disabled' and not tools.enabled
           or $8::text = 'changed' and tools.review = 'changed'
           or $8::text = 'held' and tools.review <> 'accepted'
           or $8::text = 'curated' and (tools.alias <> '' or tools.agent_text <> ''))
      and ($9::text = ''
           or exists (select from tool_definitions said
                      where said.tenant_id = $4 and said.hash = tools.current_hash and encode(said.raw, 'escape') ~ $9::text))
      and ($3::text = ''
           or tools.current_hash in (select found.hash from found)
           or lower(tools.name) like (select asked.prefix from asked)
           or tools.alias <> '' and lower(tools.alias) like (select asked.prefix from asked)
           or tools.agent_text <> '' and lower(tools.agent_text) like '%' || (select asked.prefix from asked)
           or lower($3::text) = any(tools.tags))
      and ($10::text is null
           or (tools.name, tools.connector_id) > ($10, $11::uuid))
    order by tools.name, tools.connector_id
    limit $12
), page as (
    select listed.connector_id, listed.name, listed.current_hash, listed.review, listed.enabled, listed.first_seen_at,
           listed.last_seen_at, listed.changed_at, listed.removed_at, listed.alias, listed.agent_text, listed.tags,
           exists (select from tools other
                   where other.tenant_id = $4 and other.connector_id = listed.connector_id
                     and other.alias = listed.name and other.alias <> '' and other.name <> listed.name and other.removed_at is null) as shadowed,
           connectors.slug, connectors.name as connector_name, connectors.tools_last_synced_at,
           definition.raw, definition.title, definition.description
    from listed
    join connectors on connectors.tenant_id = $4 and connectors.id = listed.connector_id
    join tool_definitions definition on definition.tenant_id = $4 and definition.hash = listed.current_hash
), measured as (
    select page.connector_id, page.name, page.current_hash, page.review, page.enabled, page.first_seen_at, page.last_seen_at, page.changed_at, page.removed_at, page.alias, page.agent_text, page.tags, page.shadowed, page.slug, page.connector_name, page.tools_last_synced_at, page.raw, page.title, page.description,
           row_number() over so_far as nth,
           sum(length(page.raw)) over so_far as bytes,
           lead(page.name) over so_far is not null as more
    from page
    window so_far as (order by page.name, page.connector_id)
)
select connector_id, name, current_hash, review, enabled, first_seen_at, last_seen_at, changed_at, removed_at,
       alias, agent_text, tags, shadowed::boolean as shadowed, slug, connector_name, tools_last_synced_at, raw, title, description, more::boolean as more
from measured
where nth = 1 or bytes <= $1::bigint
order by name, connector_id

-- name: WriteTools :exec
insert into tools (tenant_id, connector_id, name, current_hash, accepted_hash, review, first_seen_at, last_seen_at, changed_at)
select $1, $2, new.name, new.current_hash, new.accepted_hash, new.review, now(), now(), now()
from (select unnest($3::text[]) as name,
             unnest($4::bytea[]) as current_hash,
             unnest($5::bytea[]) as accepted_hash,
             unnest($6::text[]) as review) new
on conflict (tenant_id, connector_id, name) do update
set current_hash = excluded.current_hash,
    accepted_hash = excluded.accepted_hash,
    review = excluded.review,
    last_seen_at = now(),
    changed_at = case when tools.current_hash = excluded.current_hash then tools.changed_at else now() end,
    removed_at = null

-- name: CancelDeliveries :exec
update webhook_deliveries
set state = 'cancelled',
    next_at = null
where tenant_id = $1 and webhook_id = $2 and state = 'waiting'

-- name: ClaimDelivery :one
update webhook_deliveries
set attempts = attempts + 1,
    tries = tries + 1,
    tried_at = now(),
    next_at = now() + make_interval(secs => $1::double precision)
where tenant_id = $2 and id = $3 and state = 'waiting' and next_at <= now()
returning tenant_id, id, webhook_id, notice_id, kind, body, state, attempts, tries, created_at, next_at, tried_at, status, error, duration_ms

-- name: CountWebhooks :one
select count(*)
from webhooks
where tenant_id = $1

-- name: CreateWebhook :one

insert into webhooks (tenant_id, id, name, url, kinds, sealed)
values ($1, $2, $3, $4, $5, $6)
returning tenant_id, id, name, url, kinds, sealed, rotating_until, enabled, disabled_why, failures, failing_since, delivered_at, created_at, updated_at

-- name: DeleteWebhook :execrows
delete from webhooks
where tenant_id = $1 and id = $2

-- name: Deliveries :many
select webhook_deliveries.tenant_id, webhook_deliveries.id, webhook_deliveries.webhook_id, webhook_deliveries.notice_id, webhook_deliveries.kind, webhook_deliveries.body, webhook_deliveries.state, webhook_deliveries.attempts, webhook_deliveries.tries, webhook_deliveries.created_at, webhook_deliveries.next_at, webhook_deliveries.tried_at, webhook_deliveries.status, webhook_deliveries.error, webhook_deliveries.duration_ms
from webhook_deliveries
where tenant_id = $1 and webhook_id = $2
  and ($3::uuid is null or id < $3)
order by id desc
limit $4

-- name: Delivery :one
select webhook_deliveries.tenant_id, webhook_deliveries.id, webhook_deliveries.webhook_id, webhook_deliveries.notice_id, webhook_deliveries.kind, webhook_deliveries.body, webhook_deliveries.state, webhook_deliveries.attempts, webhook_deliveries.tries, webhook_deliveries.created_at, webhook_deliveries.next_at, webhook_deliveries.tried_at, webhook_deliveries.status, webhook_deliveries.error, webhook_deliveries.duration_ms
from webhook_deliveries
where tenant_id = $1 and id = $2

-- name: DisableWebhook :execrows
update webhooks
set enabled = false,
    disabled_why = $1,
    updated_at = now()
where tenant_id = $2 and id = $3 and enabled

-- name: DropOldestDeliveries :exec
delete from webhook_deliveries
where webhook_deliveries.tenant_id = $1
  and webhook_deliveries.id in (
      select old.id
      from webhook_deliveries old
      where old.tenant_id = $1 and old.webhook_id = $2
        and old.id <= (
            select edge.id
            from webhook_deliveries edge
            where edge.tenant_id = $1 and edge.webhook_id = $2
            order by edge.id desc
            offset $3::integer
            limit 1)
      order by old.id
      limit 100
      for update skip locked)

-- name: EndDelivery :execrows
update webhook_deliveries
set state = $1,
    status = $2,
    error = $3,
    duration_ms = $4,
    next_at = now() + make_interval(secs => $5::double precision)
where tenant_id = $6 and id = $7 and state = 'waiting' and tries = $8

-- name: InsertDelivery :exec
insert into webhook_deliveries (tenant_id, id, webhook_id, notice_id, kind, body, next_at)
values ($1, $2, $3, $4, $5, $6, now())

-- name: NoteDelivered :exec
update webhooks
set failures = 0,
    failing_since = null,
    delivered_at = now()
where tenant_id = $1 and id = $2

-- name: NoteUndelivered :one
update webhooks
set failures = failures + 1,
    failing_since = coalesce(failing_since, now())
where tenant_id = $1 and id = $2
returning tenant_id, id, name, url, kinds, sealed, rotating_until, enabled, disabled_why, failures, failing_since, delivered_at, created_at, updated_at

-- name: RequeueDelivery :one
update webhook_deliveries
set state = 'waiting',
    attempts = 0,
    next_at = now()
where tenant_id = $1 and webhook_id = $2 and id = $3
returning tenant_id, id, webhook_id, notice_id, kind, body, state, attempts, tries, created_at, next_at, tried_at, status, error, duration_ms

-- name: SetWebhookSecrets :one
update webhooks
set sealed = $1,
    rotating_until = $2,
    updated_at = now()
where tenant_id = $3 and id = $4
returning tenant_id, id, name, url, kinds, sealed, rotating_until, enabled, disabled_why, failures, failing_since, delivered_at, created_at, updated_at

-- name: UpdateWebhook :one
update webhooks
set name = $1,
    url = $2,
    kinds = $3,
    enabled = $4,
    disabled_why = case when $4 then '' else disabled_why end,
    failures = case when url <> $2 or $4 and not enabled then 0 else failures end,
    failing_since = case when url <> $2 or $4 and not enabled then null else failing_since end,
    updated_at = now()
where tenant_id = $5 and id = $6
returning tenant_id, id, name, url, kinds, sealed, rotating_until, enabled, disabled_why, failures, failing_since, delivered_at, created_at, updated_at

-- name: Webhook :one
select webhooks.tenant_id, webhooks.id, webhooks.name, webhooks.url, webhooks.kinds, webhooks.sealed, webhooks.rotating_until, webhooks.enabled, webhooks.disabled_why, webhooks.failures, webhooks.failing_since, webhooks.delivered_at, webhooks.created_at, webhooks.updated_at
from webhooks
where tenant_id = $1 and id = $2

-- name: Webhooks :many
select webhooks.tenant_id, webhooks.id, webhooks.name, webhooks.url, webhooks.kinds, webhooks.sealed, webhooks.rotating_until, webhooks.enabled, webhooks.disabled_why, webhooks.failures, webhooks.failing_since, webhooks.delivered_at, webhooks.created_at, webhooks.updated_at
from webhooks
where tenant_id = $1
  and ($2::uuid is null or id > $2)
order by id
limit $3

-- name: WebhooksWanting :many
select id
from webhooks
where tenant_id = $1 and enabled and (cardinality(kinds) = 0 or $2::text = any(kinds))
order by id
