-- +goose Up

-- No call ends without a link of the chain (00058), whatever the statement or its session does.

-- The functions have the rights of the tables' owner, for whom row level security holds as well: a statement could take the session's tenant away
-- before its triggers ran, by what it returns, and no head was seen. Each given tenant has a link now, or nothing happens. (Only a superuser
-- could set this once and for all for the functions.)
-- +goose StatementBegin
create or replace function link_outcomes(what text, tenants uuid[], counts bigint[], bodies bytea[]) returns void
    language plpgsql
as $$
declare
    scope   text := current_setting('app.system', true);
    written bigint;
begin
    perform set_config('app.system', 'on', true);
    with heads as materialized (
        select h.tenant_id, h.places, h.hash, greatest(h.at, clock_timestamp()) as at
        from call_outcome_heads h
        where h.tenant_id = any(tenants)
        order by h.tenant_id
        for no key update
    ), links as materialized (
        select heads.tenant_id, heads.places + 1 as n, heads.at, new.calls, new.body,
               outcome_hash(heads.hash, heads.places + 1, heads.tenant_id, heads.at, what, new.calls, new.body) as hash
        from unnest(tenants, counts, bodies) as new (tenant_id, calls, body)
        join heads on heads.tenant_id = new.tenant_id
    ), moved as (
        update call_outcome_heads h
        set places = links.n,
            calls = h.calls + case when what = 'ended' then links.calls else 0 end,
            hash = links.hash,
            at = links.at
        from links
        where h.tenant_id = links.tenant_id
    )
    insert into call_outcomes (tenant_id, n, at, kind, calls, body, hash)
    select links.tenant_id, links.n, links.at, what, links.calls, links.body, links.hash
    from links;
    get diagnostics written = row_count;
    perform set_config('app.system', coalesce(scope, ''), true);
    if written <> cardinality(tenants) then
        raise exception 'how calls of % tenants ended is on record of %', cardinality(tenants), written;
    end if;
end $$;
-- +goose StatementEnd

-- A call that ended under another id than it had is one that ended. One that ended within another trigger, be it a temporary table's, has ended too.
-- +goose StatementBegin
do $do$
declare
    packed text := $p$(
        (array_send(array_agg(c.id)) || array_send(array_agg(c.agent_id)) || array_send(array_agg(c.agent_slug)) || array_send(array_agg(c.connector_id)))
        || (array_send(array_agg(c.connector_slug)) || array_send(array_agg(c.kind)) || array_send(array_agg(c.tool)) || array_send(array_agg(c.source)))
        || ((array_send(array_agg(c.caller)) || array_send(array_agg(c.token_id)) || array_send(array_agg(c.credential_id)) || array_send(array_agg(c.definition_hash)))
        || (array_send(array_agg(c.status)) || array_send(array_agg(c.outcome)) || array_send(array_agg(c.error_code)) || array_send(array_agg(c.is_error))))
        || ((array_send(array_agg(c.approved_by)) || array_send(array_agg(c.request_bytes)) || array_send(array_agg(c.response_bytes)))
        || (array_send(array_agg(c.started_at)) || array_send(array_agg(c.completed_at)) || array_send(array_agg(c.duration_us)))))$p$;
begin
    execute format($f$
        create or replace function note_changed_calls() returns trigger
            language plpgsql security definer
        as $$
        begin
            if not exists (select from new_calls where completed_at is not null) then
                return null;
            end if;
            perform link_outcomes('ended', array_agg(those.tenant_id), array_agg(those.calls), array_agg(those.body))
            from (
                select c.tenant_id, count(*) as calls, %1$s as body
                from new_calls c
                left join old_calls o on o.tenant_id = c.tenant_id and o.id = c.id
                where c.completed_at is not null and o.completed_at is null
                group by c.tenant_id
            ) those
            having count(*) > 0;
            -- What another trigger changes is an agent or a connector that goes, whose calls stay what they were.
            if pg_trigger_depth() > 1 then
                return null;
            end if;
            perform link_outcomes('changed', array_agg(those.tenant_id), array_agg(those.calls), array_agg(those.body))
            from (
                select c.tenant_id, count(*) as calls, %1$s as body
                from new_calls c
                join old_calls o on o.tenant_id = c.tenant_id and o.id = c.id
                where o.completed_at is not null
                  and (c.agent_id, c.agent_slug, c.connector_id, c.connector_slug, c.kind, c.tool, c.source, c.caller, c.token_id, c.credential_id,
                       c.definition_hash, c.status, c.outcome, c.error_code, c.is_error, c.approved_by, c.request_bytes, c.response_bytes,
                       c.started_at, c.completed_at, c.duration_us)
                      is distinct from
                      (o.agent_id, o.agent_slug, o.connector_id, o.connector_slug, o.kind, o.tool, o.source, o.caller, o.token_id, o.credential_id,
                       o.definition_hash, o.status, o.outcome, o.error_code, o.is_error, o.approved_by, o.request_bytes, o.response_bytes,
                       o.started_at, o.completed_at, o.duration_us)
                group by c.tenant_id
            ) those
            having count(*) > 0;
            return null;
        end $$;
    $f$, packed);
    -- What the function had was set by its owner, and is replaced with it.
    execute format('alter function note_changed_calls() set search_path = %I, pg_temp', current_schema());
    alter function note_changed_calls() set enable_nestloop = off;
end $do$;
-- +goose StatementEnd

-- Texts are sent in the session's encoding; on record they are in one.
alter function note_calls() set client_encoding = 'UTF8';
alter function note_changed_calls() set client_encoding = 'UTF8';

-- +goose Down
alter function note_calls() reset client_encoding;
-- +goose StatementBegin
do $do$
declare
    packed text := $p$(
        (array_send(array_agg(c.id)) || array_send(array_agg(c.agent_id)) || array_send(array_agg(c.agent_slug)) || array_send(array_agg(c.connector_id)))
        || (array_send(array_agg(c.connector_slug)) || array_send(array_agg(c.kind)) || array_send(array_agg(c.tool)) || array_send(array_agg(c.source)))
        || ((array_send(array_agg(c.caller)) || array_send(array_agg(c.token_id)) || array_send(array_agg(c.credential_id)) || array_send(array_agg(c.definition_hash)))
        || (array_send(array_agg(c.status)) || array_send(array_agg(c.outcome)) || array_send(array_agg(c.error_code)) || array_send(array_agg(c.is_error))))
        || ((array_send(array_agg(c.approved_by)) || array_send(array_agg(c.request_bytes)) || array_send(array_agg(c.response_bytes)))
        || (array_send(array_agg(c.started_at)) || array_send(array_agg(c.completed_at)) || array_send(array_agg(c.duration_us)))))$p$;
begin
    execute format($f$
        create or replace function note_changed_calls() returns trigger
            language plpgsql security definer
        as $$
        begin
            -- What another trigger does is an agent or a connector that goes, whose calls stay what they were.
            if pg_trigger_depth() > 1 or not exists (select from new_calls where completed_at is not null) then
                return null;
            end if;
            perform link_outcomes('ended', array_agg(those.tenant_id), array_agg(those.calls), array_agg(those.body))
            from (
                select c.tenant_id, count(*) as calls, %1$s as body
                from new_calls c
                join old_calls o on o.tenant_id = c.tenant_id and o.id = c.id
                where c.completed_at is not null and o.completed_at is null
                group by c.tenant_id
            ) those
            having count(*) > 0;
            perform link_outcomes('changed', array_agg(those.tenant_id), array_agg(those.calls), array_agg(those.body))
            from (
                select c.tenant_id, count(*) as calls, %1$s as body
                from new_calls c
                join old_calls o on o.tenant_id = c.tenant_id and o.id = c.id
                where o.completed_at is not null
                  and (c.agent_id, c.agent_slug, c.connector_id, c.connector_slug, c.kind, c.tool, c.source, c.caller, c.token_id, c.credential_id,
                       c.definition_hash, c.status, c.outcome, c.error_code, c.is_error, c.approved_by, c.request_bytes, c.response_bytes,
                       c.started_at, c.completed_at, c.duration_us)
                      is distinct from
                      (o.agent_id, o.agent_slug, o.connector_id, o.connector_slug, o.kind, o.tool, o.source, o.caller, o.token_id, o.credential_id,
                       o.definition_hash, o.status, o.outcome, o.error_code, o.is_error, o.approved_by, o.request_bytes, o.response_bytes,
                       o.started_at, o.completed_at, o.duration_us)
                group by c.tenant_id
            ) those
            having count(*) > 0;
            return null;
        end $$;
    $f$, packed);
    -- What the function had was set by its owner, and is replaced with it.
    execute format('alter function note_changed_calls() set search_path = %I, pg_temp', current_schema());
    alter function note_changed_calls() set enable_nestloop = off;
end $do$;
-- +goose StatementEnd
-- +goose StatementBegin
create or replace function link_outcomes(what text, tenants uuid[], counts bigint[], bodies bytea[]) returns void
    language plpgsql
as $$
begin
    with heads as materialized (
        select h.tenant_id, h.places, h.hash, greatest(h.at, clock_timestamp()) as at
        from call_outcome_heads h
        where h.tenant_id = any(tenants)
        order by h.tenant_id
        for no key update
    ), links as materialized (
        select heads.tenant_id, heads.places + 1 as n, heads.at, new.calls, new.body,
               outcome_hash(heads.hash, heads.places + 1, heads.tenant_id, heads.at, what, new.calls, new.body) as hash
        from unnest(tenants, counts, bodies) as new (tenant_id, calls, body)
        join heads on heads.tenant_id = new.tenant_id
    ), moved as (
        update call_outcome_heads h
        set places = links.n,
            calls = h.calls + case when what = 'ended' then links.calls else 0 end,
            hash = links.hash,
            at = links.at
        from links
        where h.tenant_id = links.tenant_id
    )
    insert into call_outcomes (tenant_id, n, at, kind, calls, body, hash)
    select links.tenant_id, links.n, links.at, what, links.calls, links.body, links.hash
    from links;
end $$;
-- +goose StatementEnd
