-- +goose Up

-- How every call ended, as rows that are only added: a chain per tenant as the audit log's (00030), one link for each statement that ends calls.
-- The database writes it, whoever ends a call by whichever statement, and the runtime role only reads it: docs/adr/0014-outcomes-of-calls.md.

-- n: 1 is the tenant's first link. kind: calls that ended; calls whose end was changed afterwards; calls that were removed because they were old.
-- calls: how many. body: what is told of them, packed by the triggers below, as internal/store/outcome_body.go reads it. hash: SHA-256 over the
-- hash before it (32 zero bytes for the first) and the link's columns.
create table call_outcomes (
    tenant_id uuid        not null references tenants (id) on delete cascade,
    n         bigint      not null,
    at        timestamptz not null,
    kind      text        not null,
    calls     bigint      not null,
    body      bytea       not null,
    hash      bytea       not null,
    constraint call_outcomes_pkey primary key (tenant_id, n, at),
    constraint call_outcomes_n_positive check (n > 0),
    constraint call_outcomes_kind_known check (kind in ('ended', 'changed', 'removed')),
    constraint call_outcomes_hash_length check (length(hash) = 32)
) partition by range (at);

-- Where each chain ends. calls: how many ends it tells of. at: of the last link, which no later one is before. checked_…: what the last check of
-- the whole chain found, as in audit_heads.
create table call_outcome_heads (
    tenant_id      uuid        not null references tenants (id) on delete cascade,
    places         bigint      not null default 0,
    calls          bigint      not null default 0,
    hash           bytea       not null default decode(repeat('00', 32), 'hex'),
    at             timestamptz not null default now(),
    checked_at     timestamptz,
    checked_calls  bigint,
    checked_bad    bigint,
    checked_reason text,
    checked_call   uuid,
    constraint call_outcome_heads_pkey primary key (tenant_id),
    constraint call_outcome_heads_hash_length check (length(hash) = 32)
) with (fillfactor = 50);

-- Bodies are columns of a batch, one after the other: the same words again and again.
-- +goose StatementBegin
do $$
begin
    alter table call_outcomes alter column body set compression lz4;
exception when feature_not_supported then
    null;
end $$;
-- +goose StatementEnd

-- Its parts are those of the audit log, and go with them (patchbay audit cut).
create table call_outcomes_default partition of call_outcomes default;
-- +goose StatementBegin
do $$
declare
    t text;
    month audit_months;
begin
    for month in select * from audit_months order by ends loop
        execute format('create table %I partition of call_outcomes for values from (%s) to (%L)',
            replace(month.name, 'audit_events', 'call_outcomes'), coalesce(quote_literal(month.starts), 'minvalue'), month.ends);
    end loop;
    for t in select c.relname from pg_class c
             where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and starts_with(c.relname, 'call_outcome') loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
            with check (tenant_id = (select tenant()) or (select system_scope()))', t);
    end loop;
end $$;
-- +goose StatementEnd
grant select on call_outcomes, call_outcome_heads to patchbay_app;
grant update (checked_at, checked_calls, checked_bad, checked_reason, checked_call) on call_outcome_heads to patchbay_app;

-- Every tenant has a head from its first moment: two that end its first calls at once wait for each other there.
-- +goose StatementBegin
create function begin_outcomes() returns trigger
    language plpgsql security definer
as $$
declare
    scope text := current_setting('app.system', true);
begin
    perform set_config('app.system', 'on', true);
    insert into call_outcome_heads (tenant_id) values (new.id);
    perform set_config('app.system', coalesce(scope, ''), true);
    return null;
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
do $$ begin
    perform set_config('app.system', 'on', true);
    insert into call_outcome_heads (tenant_id) select id from tenants;
end $$;
-- +goose StatementEnd
create trigger begin_outcomes after insert on tenants for each row execute function begin_outcomes();

-- +goose StatementBegin
create function outcome_hash(before bytea, n bigint, tenant uuid, at timestamptz, kind text, calls bigint, body bytea) returns bytea
    language sql immutable parallel safe
as $$ select sha256(before || int8send(n) || uuid_send(tenant) || int8send((extract(epoch from at) * 1000000)::bigint)
    || audit_field(kind) || int8send(calls) || body) $$;
-- +goose StatementEnd

-- The next link of each of these tenants' chains. Heads are locked in one order, and are the last that a statement locks.
-- +goose StatementBegin
create function link_outcomes(what text, tenants uuid[], counts bigint[], bodies bytea[]) returns void
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

-- What is told of calls, each column as PostgreSQL sends an array. Both triggers have it.
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
        create function note_calls() returns trigger
            language plpgsql security definer
        as $$
        begin
            perform link_outcomes('ended', array_agg(those.tenant_id), array_agg(those.calls), array_agg(those.body))
            from (
                select c.tenant_id, count(*) as calls, %1$s as body
                from new_calls c
                where c.completed_at is not null
                group by c.tenant_id
            ) those
            having count(*) > 0;
            return null;
        end $$;

        create function note_changed_calls() returns trigger
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
end $do$;
-- +goose StatementEnd

-- Calls that were removed when they were old enough: up to which id. No tenant's history is shorter than 30 days; an hour is for clocks. What is
-- removed before that is not told, and is missed by whoever checks.
-- +goose StatementBegin
create function note_removed_calls() returns trigger
    language plpgsql security definer
as $$
begin
    if pg_trigger_depth() > 1 then -- the tenant goes
        return null;
    end if;
    perform link_outcomes('removed', array_agg(those.tenant_id), array_agg(those.calls), array_agg(those.body))
    from (
        select c.tenant_id, count(*) as calls, uuid_send(max(c.id::text collate "C")::uuid) as body
        from old_calls c
        where c.id < audit_id_at(now() - interval '30 days' + interval '1 hour')
        group by c.tenant_id
    ) those
    having count(*) > 0;
    return null;
end $$;
-- +goose StatementEnd

-- With the owner's rights, on the tables of this schema whatever the session has of its own. A batch is joined with itself by hash: a plan is
-- made once, of whichever batch came first.
-- +goose StatementBegin
do $$
declare f text;
begin
    foreach f in array array['begin_outcomes()', 'note_calls()', 'note_changed_calls()', 'note_removed_calls()'] loop
        execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
        execute format('revoke all on function %s from public', f);
    end loop;
    alter function note_changed_calls() set enable_nestloop = off;
end $$;
-- +goose StatementEnd
revoke all on function link_outcomes(text, uuid[], bigint[], bytea[]) from public;

create trigger note_calls after insert on tool_calls referencing new table as new_calls for each statement execute function note_calls();
create trigger note_changed_calls after update on tool_calls referencing old table as old_calls new table as new_calls
    for each statement execute function note_changed_calls();
create trigger note_removed_calls after delete on tool_calls referencing old table as old_calls for each statement execute function note_removed_calls();

-- As before (00047), with the parts of call_outcomes beside.
-- +goose StatementBegin
create or replace function audit_make_months() returns int
    language plpgsql security definer
as $$
declare
    month timestamptz;
    part  text;
    calls text;
    made  int  := 0;
    scope text := current_setting('app.system', true);
begin
    perform set_config('app.system', 'on', true);
    perform pg_advisory_xact_lock(hashtextextended('patchbay audit months', 0));
    loop
        select max(ends) into month from audit_months;
        exit when month > date_trunc('month', now(), 'UTC') + interval '3 months';
        part := 'audit_events_' || to_char(month at time zone 'UTC', 'YYYY_MM');
        calls := replace(part, 'audit_events', 'call_outcomes');
        execute format('create table %I (like audit_events including defaults including constraints including indexes)', part);
        execute format('create table %I (like call_outcomes including defaults including constraints including indexes including compression)', calls);
        execute format('alter table %I enable row level security', part);
        execute format('alter table %I force row level security', part);
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
            with check (tenant_id = (select tenant()) or (select system_scope()))', part);
        execute format('alter table %I enable row level security', calls);
        execute format('alter table %I force row level security', calls);
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
            with check (tenant_id = (select tenant()) or (select system_scope()))', calls);
        execute format('with here as (delete from audit_events_default where id >= %1$L and id < %2$L returning *) insert into %3$I select * from here',
            audit_id_at(month), audit_id_at(month + interval '1 month'), part);
        execute format('with here as (delete from call_outcomes_default where at >= %1$L and at < %2$L returning *) insert into %3$I select * from here',
            month, month + interval '1 month', calls);
        execute format('alter table audit_events attach partition %I for values from (%L) to (%L)',
            part, audit_id_at(month), audit_id_at(month + interval '1 month'));
        execute format('alter table call_outcomes attach partition %I for values from (%L) to (%L)', calls, month, month + interval '1 month');
        insert into audit_months (name, starts, ends) values (part, month, month + interval '1 month');
        made := made + 1;
    end loop;
    perform set_config('app.system', coalesce(scope, ''), true);
    return made;
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
do $$ begin
    execute format('alter function audit_make_months() set search_path = %I, pg_temp', current_schema());
    alter function audit_make_months() set lock_timeout = '2s';
    alter function audit_make_months() set timezone = 'UTC';
end $$;
-- +goose StatementEnd

-- +goose Down
drop trigger note_removed_calls on tool_calls;
drop trigger note_changed_calls on tool_calls;
drop trigger note_calls on tool_calls;
drop function note_removed_calls();
drop function note_changed_calls();
drop function note_calls();
drop function link_outcomes(text, uuid[], bigint[], bytea[]);
drop function outcome_hash(bytea, bigint, uuid, timestamptz, text, bigint, bytea);
drop trigger begin_outcomes on tenants;
drop function begin_outcomes();
drop table call_outcome_heads, call_outcomes;
-- +goose StatementBegin
create or replace function audit_make_months() returns int
    language plpgsql security definer
as $$
declare
    month timestamptz;
    part  text;
    made  int  := 0;
    scope text := current_setting('app.system', true);
begin
    perform set_config('app.system', 'on', true);
    perform pg_advisory_xact_lock(hashtextextended('patchbay audit months', 0));
    loop
        select max(ends) into month from audit_months;
        exit when month > date_trunc('month', now(), 'UTC') + interval '3 months';
        part := 'audit_events_' || to_char(month at time zone 'UTC', 'YYYY_MM');
        execute format('create table %I (like audit_events including defaults including constraints including indexes)', part);
        execute format('alter table %I enable row level security', part);
        execute format('alter table %I force row level security', part);
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
            with check (tenant_id = (select tenant()) or (select system_scope()))', part);
        execute format('with here as (delete from audit_events_default where id >= %1$L and id < %2$L returning *) insert into %3$I select * from here',
            audit_id_at(month), audit_id_at(month + interval '1 month'), part);
        execute format('alter table audit_events attach partition %I for values from (%L) to (%L)',
            part, audit_id_at(month), audit_id_at(month + interval '1 month'));
        insert into audit_months (name, starts, ends) values (part, month, month + interval '1 month');
        made := made + 1;
    end loop;
    perform set_config('app.system', coalesce(scope, ''), true);
    return made;
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
do $$ begin
    execute format('alter function audit_make_months() set search_path = %I, pg_temp', current_schema());
    alter function audit_make_months() set lock_timeout = '2s';
    alter function audit_make_months() set timezone = 'UTC';
end $$;
-- +goose StatementEnd
