-- Call history, written in batches across tenants.
-- Locks: the tenant, agent and connector of each call are locked for key share until the rows are written. A deleted
-- agent or connector is null in the row; calls of a deleted tenant are not written. Rows that another transaction has
-- locked, to delete them, are skipped: their calls stay for the next batch. So a batch never waits for a deletion, and
-- a deletion never waits for a batch that waits for it.
-- Heads: values that many calls share are sent once as a head, and each call refers to its head by number. This reduces
-- bytes and time. Each call has a place from generate_series: the planner expects 1,000 rows of a series, and hashes
-- the heads. For arrays alone it expects 10.
-- Parameters are sent in order of first use. The longest come last, so that pgx's buffers grow only once.

-- name: BeginCalls :many
-- Returns the tenants, agents and connectors that were locked. Their calls were not written.
-- @sqlc-vet-disable tenant-scope
with those_tenants as materialized (
    select tenants.id as tenant_id
    from tenants
    where tenants.id = any(@tenant_ids::uuid[])
    for key share skip locked
), those_agents as materialized (
    select agents.tenant_id, agents.id
    from agents
    where (agents.tenant_id, agents.id) in (select distinct unnest(@tenant_ids::uuid[]), unnest(@agent_ids::uuid[]))
    for key share skip locked
), those_connectors as materialized (
    select connectors.tenant_id, connectors.id
    from connectors
    where (connectors.tenant_id, connectors.id) in (select distinct unnest(@tenant_ids::uuid[]), unnest(@connector_ids::uuid[]))
    for key share skip locked
), held as materialized (
    select tenants.id as tenant_id, tenants.id
    from tenants
    where tenants.id = any(@tenant_ids::uuid[]) and not exists (select from those_tenants where those_tenants.tenant_id = tenants.id)
    union all
    select agents.tenant_id, agents.id
    from agents
    where (agents.tenant_id, agents.id) in (select distinct unnest(@tenant_ids::uuid[]), unnest(@agent_ids::uuid[]))
      and not exists (select from those_agents where those_agents.tenant_id = agents.tenant_id and those_agents.id = agents.id)
    union all
    select connectors.tenant_id, connectors.id
    from connectors
    where (connectors.tenant_id, connectors.id) in (select distinct unnest(@tenant_ids::uuid[]), unnest(@connector_ids::uuid[]))
      and not exists (
          select from those_connectors
          where those_connectors.tenant_id = connectors.tenant_id and those_connectors.id = connectors.id)
), heads as materialized (
    select head.number, head.tenant_id, those_agents.id as agent_id, head.agent_slug, those_connectors.id as connector_id, head.connector_slug, head.kind,
           head.tool, head.exposed_name, head.source, head.caller, head.token_id, head.credential_id, head.definition_hash, head.instance_id,
           head.status, head.approved_by, head.truncated, head.address
    from (
        select unnest(@numbers::bigint[]) as number, unnest(@tenant_ids::uuid[]) as tenant_id, unnest(@agent_ids::uuid[]) as agent_id,
               unnest(@agent_slugs::text[]) as agent_slug, unnest(@connector_ids::uuid[]) as connector_id,
               unnest(@connector_slugs::text[]) as connector_slug, unnest(@kinds::text[]) as kind, unnest(@tools::text[]) as tool,
               unnest(@exposed_names::text[]) as exposed_name, unnest(@sources::text[]) as source, unnest(@callers::text[]) as caller,
               unnest(@token_ids::uuid[]) as token_id, unnest(@credential_ids::uuid[]) as credential_id,
               unnest(@definition_hashes::bytea[]) as definition_hash, unnest(@instance_ids::uuid[]) as instance_id,
               unnest(@statuses::text[]) as status, unnest(@approved_bys::text[]) as approved_by, unnest(@truncateds::boolean[]) as truncated,
               unnest(@addresses::text[]) as address
    ) head
    join those_tenants on those_tenants.tenant_id = head.tenant_id
    left join those_agents on those_agents.tenant_id = head.tenant_id and those_agents.id = head.agent_id
    left join those_connectors on those_connectors.tenant_id = head.tenant_id and those_connectors.id = head.connector_id
    where not exists (
        select from held
        where held.tenant_id = head.tenant_id and (held.id = head.agent_id or held.id = head.connector_id))
), begun as (
    insert into tool_calls (tenant_id, id, agent_id, agent_slug, connector_id, connector_slug, kind, tool, exposed_name, source, caller, token_id,
        credential_id, definition_hash, instance_id, status, approved_by, arguments, truncated, request_bytes, started_at, address, request_id)
    select heads.tenant_id, new.id, heads.agent_id, heads.agent_slug, heads.connector_id, heads.connector_slug, heads.kind, heads.tool, heads.exposed_name,
           heads.source, heads.caller, nullif(heads.token_id, @nobody::uuid), nullif(heads.credential_id, @nobody::uuid), heads.definition_hash,
           nullif(heads.instance_id, @nobody::uuid), heads.status, heads.approved_by, new.arguments, heads.truncated, new.request_bytes, new.started_at,
           nullif(heads.address, ''), nullif(new.request_id, '')
    from (
        select generate_series(1, cardinality(@ids::uuid[])) as place, unnest(@heads::bigint[]) as head, unnest(@ids::uuid[]) as id,
               unnest(@request_bytes::bigint[]) as request_bytes, unnest(@started_ats::timestamptz[]) as started_at,
               unnest(@request_ids::text[]) as request_id, unnest(@arguments::bytea[]) as arguments
    ) new
    join heads on heads.number = new.head
    on conflict on constraint tool_calls_pkey do nothing
)
select held.id
from held;

-- name: EndCalls :many
-- An ended call is not changed, with one exception: outcome lost, set for a process that seemed dead, is replaced by
-- the real one. Such a call counts twice in its hour. Totals are counted here from the rows that were written, so a
-- repeated batch counts once. Returns the tenants, agents and connectors that were locked. Their calls were not
-- written.
-- @sqlc-vet-disable tenant-scope
with those_tenants as materialized (
    select tenants.id as tenant_id
    from tenants
    where tenants.id = any(@tenant_ids::uuid[])
    for key share skip locked
), those_agents as materialized (
    select agents.tenant_id, agents.id
    from agents
    where (agents.tenant_id, agents.id) in (select distinct unnest(@tenant_ids::uuid[]), unnest(@agent_ids::uuid[]))
    for key share skip locked
), those_connectors as materialized (
    select connectors.tenant_id, connectors.id
    from connectors
    where (connectors.tenant_id, connectors.id) in (select distinct unnest(@tenant_ids::uuid[]), unnest(@connector_ids::uuid[]))
    for key share skip locked
), held as materialized (
    select tenants.id as tenant_id, tenants.id
    from tenants
    where tenants.id = any(@tenant_ids::uuid[]) and not exists (select from those_tenants where those_tenants.tenant_id = tenants.id)
    union all
    select agents.tenant_id, agents.id
    from agents
    where (agents.tenant_id, agents.id) in (select distinct unnest(@tenant_ids::uuid[]), unnest(@agent_ids::uuid[]))
      and not exists (select from those_agents where those_agents.tenant_id = agents.tenant_id and those_agents.id = agents.id)
    union all
    select connectors.tenant_id, connectors.id
    from connectors
    where (connectors.tenant_id, connectors.id) in (select distinct unnest(@tenant_ids::uuid[]), unnest(@connector_ids::uuid[]))
      and not exists (
          select from those_connectors
          where those_connectors.tenant_id = connectors.tenant_id and those_connectors.id = connectors.id)
), heads as materialized (
    select head.number, head.tenant_id, those_agents.id as agent_id, head.agent_slug, those_connectors.id as connector_id, head.connector_slug, head.kind,
           head.tool, head.exposed_name, head.source, head.caller, nullif(head.token_id, @nobody::uuid) as token_id,
           nullif(head.credential_id, @nobody::uuid) as credential_id, head.definition_hash, nullif(head.instance_id, @nobody::uuid) as instance_id,
           head.status, head.outcome, head.error_code, head.error_message, head.is_error,
           nullif(head.structured_valid, '')::boolean as structured_valid, head.structured_error, head.approved_by, head.truncated,
           nullif(head.address, '') as address, head.packed
    from (
        select unnest(@numbers::bigint[]) as number, unnest(@tenant_ids::uuid[]) as tenant_id, unnest(@agent_ids::uuid[]) as agent_id,
               unnest(@agent_slugs::text[]) as agent_slug, unnest(@connector_ids::uuid[]) as connector_id,
               unnest(@connector_slugs::text[]) as connector_slug, unnest(@kinds::text[]) as kind, unnest(@tools::text[]) as tool,
               unnest(@exposed_names::text[]) as exposed_name, unnest(@sources::text[]) as source, unnest(@callers::text[]) as caller,
               unnest(@token_ids::uuid[]) as token_id, unnest(@credential_ids::uuid[]) as credential_id,
               unnest(@definition_hashes::bytea[]) as definition_hash, unnest(@instance_ids::uuid[]) as instance_id,
               unnest(@statuses::text[]) as status, unnest(@outcomes::text[]) as outcome,
               unnest(@error_codes::text[]) as error_code, unnest(@error_messages::text[]) as error_message,
               unnest(@is_errors::boolean[]) as is_error,
               unnest(@structured_valids::text[]) as structured_valid, unnest(@structured_errors::text[]) as structured_error,
               unnest(@approved_bys::text[]) as approved_by, unnest(@truncateds::boolean[]) as truncated,
               unnest(@addresses::text[]) as address, unnest(@packeds::boolean[]) as packed
    ) head
    join those_tenants on those_tenants.tenant_id = head.tenant_id
    left join those_agents on those_agents.tenant_id = head.tenant_id and those_agents.id = head.agent_id
    left join those_connectors on those_connectors.tenant_id = head.tenant_id and those_connectors.id = head.connector_id
    where not exists (
        select from held
        where held.tenant_id = head.tenant_id and (held.id = head.agent_id or held.id = head.connector_id))
), ended as (
    insert into tool_calls (tenant_id, id, agent_id, agent_slug, connector_id, connector_slug, kind, tool, exposed_name, source, caller, token_id,
        credential_id, definition_hash, instance_id, status, outcome, error_code, error_message, is_error, structured_valid, structured_error, approved_by, truncated, address,
        content, packed, structured, arguments, task, request_bytes, response_bytes, started_at, completed_at, duration_us, request_id,
        upstream)
    select heads.tenant_id, new.id, heads.agent_id, heads.agent_slug, heads.connector_id, heads.connector_slug, heads.kind, heads.tool,
           heads.exposed_name, heads.source, heads.caller, heads.token_id, heads.credential_id, heads.definition_hash, heads.instance_id,
           heads.status, heads.outcome, heads.error_code, heads.error_message, heads.is_error, heads.structured_valid, heads.structured_error,
           heads.approved_by, heads.truncated, heads.address,
           case when not heads.packed then new.result end, case when heads.packed then new.result end, new.structured, new.arguments, new.task,
           new.request_bytes, new.response_bytes, new.started_at, new.completed_at, new.duration_us, nullif(new.request_id, ''),
           new.upstream
    from (
        select generate_series(1, cardinality(@ids::uuid[])) as place, unnest(@heads::bigint[]) as head, unnest(@ids::uuid[]) as id,
               unnest(@request_bytes::bigint[]) as request_bytes, unnest(@response_bytes::bigint[]) as response_bytes,
               unnest(@started_ats::timestamptz[]) as started_at, unnest(@completed_ats::timestamptz[]) as completed_at,
               unnest(@durations_us::bigint[]) as duration_us, unnest(@request_ids::text[]) as request_id,
               unnest(@arguments::bytea[]) as arguments, unnest(@tasks::bytea[]) as task,
               unnest(@structureds::bytea[]) as structured, unnest(@results::bytea[]) as result,
               unnest(@upstreams::bytea[]) as upstream
    ) new
    join heads on heads.number = new.head
    on conflict on constraint tool_calls_pkey do update
    set credential_id = excluded.credential_id,
        status = excluded.status,
        outcome = excluded.outcome,
        error_code = excluded.error_code,
        error_message = excluded.error_message,
        is_error = excluded.is_error,
        structured_valid = excluded.structured_valid,
        structured_error = excluded.structured_error,
        approved_by = excluded.approved_by,
        content = excluded.content,
        packed = excluded.packed,
        structured = excluded.structured,
        task = excluded.task,
        upstream = excluded.upstream,
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
), chains as materialized (
    -- Two triggers add links to the chains, for updated and for inserted rows. All heads are locked first, in one order, to prevent deadlocks.
    select call_outcome_heads.tenant_id
    from call_outcome_heads
    where call_outcome_heads.tenant_id = any(array(select ended.tenant_id from ended)) and exists (select from counted)
    order by call_outcome_heads.tenant_id
    for no key update
)
select held.id
from held
union all
select @nobody::uuid
from counted -- forces the evaluation of counted; calls is never null
where counted.calls is null
union all
select @nobody::uuid
from chains -- forces the row locks; no tenant has this id
where chains.tenant_id = @nobody;

-- name: AddCalls :many
-- Like EndCalls, for calls without a row. It fails if a row exists. It saves a sixth of PostgreSQL's time per call: no
-- lookup of a row, and totals are sent per head instead of counted from the rows.
-- @sqlc-vet-disable tenant-scope
with those_tenants as materialized (
    select tenants.id as tenant_id
    from tenants
    where tenants.id = any(@tenant_ids::uuid[])
    for key share skip locked
), those_agents as materialized (
    select agents.tenant_id, agents.id
    from agents
    where (agents.tenant_id, agents.id) in (select distinct unnest(@tenant_ids::uuid[]), unnest(@agent_ids::uuid[]))
    for key share skip locked
), those_connectors as materialized (
    select connectors.tenant_id, connectors.id
    from connectors
    where (connectors.tenant_id, connectors.id) in (select distinct unnest(@tenant_ids::uuid[]), unnest(@connector_ids::uuid[]))
    for key share skip locked
), held as materialized (
    select tenants.id as tenant_id, tenants.id
    from tenants
    where tenants.id = any(@tenant_ids::uuid[]) and not exists (select from those_tenants where those_tenants.tenant_id = tenants.id)
    union all
    select agents.tenant_id, agents.id
    from agents
    where (agents.tenant_id, agents.id) in (select distinct unnest(@tenant_ids::uuid[]), unnest(@agent_ids::uuid[]))
      and not exists (select from those_agents where those_agents.tenant_id = agents.tenant_id and those_agents.id = agents.id)
    union all
    select connectors.tenant_id, connectors.id
    from connectors
    where (connectors.tenant_id, connectors.id) in (select distinct unnest(@tenant_ids::uuid[]), unnest(@connector_ids::uuid[]))
      and not exists (
          select from those_connectors
          where those_connectors.tenant_id = connectors.tenant_id and those_connectors.id = connectors.id)
), heads as materialized (
    select head.number, head.tenant_id, those_agents.id as agent_id, head.agent_slug, those_connectors.id as connector_id, head.connector_slug, head.kind,
           head.tool, head.exposed_name, head.source, head.caller, nullif(head.token_id, @nobody::uuid) as token_id,
           nullif(head.credential_id, @nobody::uuid) as credential_id, head.definition_hash, nullif(head.instance_id, @nobody::uuid) as instance_id,
           head.status, head.outcome, head.error_code, head.error_message, head.is_error,
           nullif(head.structured_valid, '')::boolean as structured_valid, head.structured_error, head.approved_by, head.truncated,
           nullif(head.address, '') as address, head.packed
    from (
        select unnest(@numbers::bigint[]) as number, unnest(@tenant_ids::uuid[]) as tenant_id, unnest(@agent_ids::uuid[]) as agent_id,
               unnest(@agent_slugs::text[]) as agent_slug, unnest(@connector_ids::uuid[]) as connector_id,
               unnest(@connector_slugs::text[]) as connector_slug, unnest(@kinds::text[]) as kind, unnest(@tools::text[]) as tool,
               unnest(@exposed_names::text[]) as exposed_name, unnest(@sources::text[]) as source, unnest(@callers::text[]) as caller,
               unnest(@token_ids::uuid[]) as token_id, unnest(@credential_ids::uuid[]) as credential_id,
               unnest(@definition_hashes::bytea[]) as definition_hash, unnest(@instance_ids::uuid[]) as instance_id,
               unnest(@statuses::text[]) as status, unnest(@outcomes::text[]) as outcome,
               unnest(@error_codes::text[]) as error_code, unnest(@error_messages::text[]) as error_message,
               unnest(@is_errors::boolean[]) as is_error,
               unnest(@structured_valids::text[]) as structured_valid, unnest(@structured_errors::text[]) as structured_error,
               unnest(@approved_bys::text[]) as approved_by, unnest(@truncateds::boolean[]) as truncated,
               unnest(@addresses::text[]) as address, unnest(@packeds::boolean[]) as packed
    ) head
    join those_tenants on those_tenants.tenant_id = head.tenant_id
    left join those_agents on those_agents.tenant_id = head.tenant_id and those_agents.id = head.agent_id
    left join those_connectors on those_connectors.tenant_id = head.tenant_id and those_connectors.id = head.connector_id
    where not exists (
        select from held
        where held.tenant_id = head.tenant_id and (held.id = head.agent_id or held.id = head.connector_id))
), counted as (
    insert into call_hours (tenant_id, hour, bucket, ok, failed, other)
    select heads.tenant_id, hours.hour, hours.bucket, coalesce(sum(hours.calls) filter (where heads.status = 'success'), 0),
           coalesce(sum(hours.calls) filter (where heads.status = 'error'), 0), coalesce(sum(hours.calls) filter (where heads.status in ('denied', 'cancelled')), 0)
    from (
        select unnest(@counted_heads::bigint[]) as head, unnest(@hours::timestamptz[]) as hour, unnest(@buckets::smallint[]) as bucket,
               unnest(@counts::bigint[]) as calls
    ) hours
    join heads on heads.number = hours.head
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict on constraint call_hours_pkey do update
    set ok = call_hours.ok + excluded.ok,
        failed = call_hours.failed + excluded.failed,
        other = call_hours.other + excluded.other
), added as (
    insert into tool_calls (tenant_id, id, agent_id, agent_slug, connector_id, connector_slug, kind, tool, exposed_name, source, caller, token_id,
        credential_id, definition_hash, instance_id, status, outcome, error_code, error_message, is_error, structured_valid, structured_error, approved_by, truncated, address,
        content, packed, structured, arguments, task, request_bytes, response_bytes, started_at, completed_at, duration_us, request_id,
        upstream)
    select heads.tenant_id, new.id, heads.agent_id, heads.agent_slug, heads.connector_id, heads.connector_slug, heads.kind, heads.tool,
           heads.exposed_name, heads.source, heads.caller, heads.token_id, heads.credential_id, heads.definition_hash, heads.instance_id,
           heads.status, heads.outcome, heads.error_code, heads.error_message, heads.is_error, heads.structured_valid, heads.structured_error,
           heads.approved_by, heads.truncated, heads.address,
           case when not heads.packed then new.result end, case when heads.packed then new.result end, new.structured, new.arguments, new.task,
           new.request_bytes, new.response_bytes, new.started_at, new.completed_at, new.duration_us, nullif(new.request_id, ''),
           new.upstream
    from (
        select generate_series(1, cardinality(@ids::uuid[])) as place, unnest(@heads::bigint[]) as head, unnest(@ids::uuid[]) as id,
               unnest(@request_bytes::bigint[]) as request_bytes, unnest(@response_bytes::bigint[]) as response_bytes,
               unnest(@started_ats::timestamptz[]) as started_at, unnest(@completed_ats::timestamptz[]) as completed_at,
               unnest(@durations_us::bigint[]) as duration_us, unnest(@request_ids::text[]) as request_id,
               unnest(@arguments::bytea[]) as arguments, unnest(@tasks::bytea[]) as task,
               unnest(@structureds::bytea[]) as structured, unnest(@results::bytea[]) as result,
               unnest(@upstreams::bytea[]) as upstream
    ) new
    join heads on heads.number = new.head
)
select held.id
from held;

-- name: SaveProgress :many
-- Returns the calls that were updated. Others have no row yet, have ended, or are locked by the transaction that ends
-- them.
-- @sqlc-vet-disable tenant-scope
with those as materialized (
    select tool_calls.tenant_id, tool_calls.id, new.progress, new.task
    from (
        select unnest(@tenant_ids::uuid[]) as tenant_id, unnest(@ids::uuid[]) as id, unnest(@progresses::bytea[]) as progress,
               unnest(@tasks::bytea[]) as task
    ) new
    join tool_calls on tool_calls.tenant_id = new.tenant_id and tool_calls.id = new.id
    where tool_calls.completed_at is null and tool_calls.status = 'running'
    for update of tool_calls skip locked
)
update tool_calls
set progress = those.progress,
    task = coalesce(those.task, tool_calls.task)
from those
where tool_calls.tenant_id = those.tenant_id and tool_calls.id = those.id
returning tool_calls.id;

-- name: CloseCallsOfSilentInstances :many
-- Only calls that a process was executing. A pending approval outlives its process.
-- @sqlc-vet-disable tenant-scope
with left_over as materialized (
    select tool_calls.tenant_id, tool_calls.id
    from tool_calls
    where tool_calls.completed_at is null and tool_calls.status = 'running' and tool_calls.instance_id <> @id
      and not exists (
          select from instances
          where instances.id = tool_calls.instance_id)
    limit @max_rows
    for update skip locked
), ended as (
    update tool_calls
    set status = 'error',
        outcome = 'lost',
        error_code = 'interrupted',
        error_message = 'Patchbay stopped during this call. The tool may have run.',
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
where exists (select from counted);

-- name: CloseCallsOfInstance :one
-- At most max_rows calls: each statement makes one link of the tenant's chain. The result is their number.
-- @sqlc-vet-disable tenant-scope
with running as materialized (
    select tool_calls.tenant_id, tool_calls.id
    from tool_calls
    where tool_calls.completed_at is null and tool_calls.status = 'running' and tool_calls.instance_id = @instance_id
    limit @max_rows
    for update
), ended as (
    update tool_calls
    set status = 'error',
        outcome = 'lost',
        error_code = 'interrupted',
        error_message = 'Patchbay stopped during this call. The tool may have run.',
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    from running
    where tool_calls.tenant_id = running.tenant_id and tool_calls.id = running.id
    returning tool_calls.tenant_id, tool_calls.completed_at, tool_calls.status
)
select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])
from ended;

-- name: CloseAllCalls :one
-- At most max_rows calls: each statement makes one link of the tenant's chain. The result is their number.
-- @sqlc-vet-disable tenant-scope
with running as materialized (
    select tool_calls.tenant_id, tool_calls.id
    from tool_calls
    where tool_calls.completed_at is null and tool_calls.status = 'running' and tool_calls.instance_id is not null
    limit @max_rows
    for update
), ended as (
    update tool_calls
    set status = 'error',
        outcome = 'lost',
        error_code = 'interrupted',
        error_message = 'Patchbay stopped during this call. The tool may have run.',
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    from running
    where tool_calls.tenant_id = running.tenant_id and tool_calls.id = running.id
    returning tool_calls.tenant_id, tool_calls.completed_at, tool_calls.status
)
select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])
from ended;

-- name: CloseOldTasks :many
-- Tasks without a known end, when the server may forget them, or a day after their start.
-- @sqlc-vet-disable tenant-scope
with forgotten as materialized (
    select tool_calls.tenant_id, tool_calls.id, tool_calls.started_at >= now() - interval '1 day' as expired
    from tool_calls
    where tool_calls.completed_at is null and tool_calls.status = 'running' and tool_calls.instance_id is null
      and (tool_calls.started_at < now() - interval '1 day' or tool_calls.task_expires_at < now())
    limit @max_rows
    for update skip locked
), ended as (
    update tool_calls
    set status = 'error',
        outcome = 'lost',
        error_code = case when forgotten.expired then 'task_expired' else 'task_forgotten' end,
        error_message = case when forgotten.expired then 'The server no longer keeps this task. How it ended is unknown.'
                             else 'The result of this task was never requested.' end,
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
where exists (select from counted);
