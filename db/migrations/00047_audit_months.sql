-- +goose NO TRANSACTION
-- +goose Up

-- The audit log by months, so that what is old enough goes as whole tables. Its ids begin with their time (UUIDv7), so that the key stays
-- (tenant_id, id) and no statement changes. The table that was there becomes the first part as it is, up to the month after next.
-- Each statement may be run again: what is done in the first two keeps nobody waiting, and shortens what the third one holds a lock for.

-- When a part ends. The first one has no begin; what no part is there for goes into audit_events_default.
create table if not exists audit_months (
    name   text        not null,
    starts timestamptz,
    ends   timestamptz not null,
    constraint audit_months_pkey primary key (name),
    constraint audit_months_whole check (starts < ends)
);
grant select on audit_months to patchbay_app;

-- The first id of a time.
-- +goose StatementBegin
create or replace function audit_id_at(at timestamptz) returns uuid
    language sql immutable parallel safe
as $$ select rpad(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid $$;
-- +goose StatementEnd

-- That all entries are of before that month is looked at while others are added. A clock that was wrong may have made later ones: these go
-- elsewhere below, and the look is made there.
-- +goose StatementBegin
do $$
declare month timestamptz;
begin
    perform set_config('app.system', 'on', true);
    if (select relkind from pg_class where oid = 'audit_events'::regclass) <> 'r' then
        return;
    end if;
    insert into audit_months (name, ends) values ('audit_events_first', date_trunc('month', now(), 'UTC') + interval '2 months') on conflict do nothing;
    select ends into month from audit_months where name = 'audit_events_first';
    if not exists (select from pg_constraint where conname = 'audit_events_before_month')
       and not exists (select from audit_events where id >= audit_id_at(month)) then
        execute format('alter table audit_events add constraint audit_events_before_month check (id < %L) not valid', audit_id_at(month));
    end if;
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
do $$
begin
    if exists (select from pg_constraint where conname = 'audit_events_before_month' and not convalidated) then
        perform set_config('app.system', 'on', true);
        alter table audit_events validate constraint audit_events_before_month;
    end if;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
do $$
declare
    month  timestamptz;
    part   text;
    tries  int := 0;
begin
    if (select relkind from pg_class where oid = 'audit_events'::regclass) <> 'r' then
        return;
    end if;
    perform set_config('app.system', 'on', true);
    -- Who waits for a lock keeps all others waiting: it is tried for a second at a time.
    loop
        begin
            perform set_config('lock_timeout', '1s', true);
            lock table audit_events in access exclusive mode;
            exit;
        exception when lock_not_available then
            tries := tries + 1;
            if tries > 120 then
                raise;
            end if;
            perform pg_sleep(0.5);
        end;
    end loop;
    select ends into month from audit_months where name = 'audit_events_first';

    alter table audit_events rename to audit_events_first;
    alter table audit_events_first rename constraint audit_events_pkey to audit_events_first_pkey;
    alter table audit_events_first rename constraint audit_events_tenant_id_fkey to audit_events_first_tenant_id_fkey;
    drop trigger audit_chained on audit_events_first;
    revoke all on audit_events_first from patchbay_app;

    create table audit_events (
        tenant_id  uuid        not null,
        id         uuid        not null,
        at         timestamptz not null default now(),
        actor_type text        not null,
        actor_id   uuid,
        actor_name text        not null,
        action     text        not null,
        target     text        not null,
        detail     jsonb       not null default '{}',
        request_id text        not null default '',
        ip         text        not null default '',
        constraint audit_events_pkey primary key (tenant_id, id),
        constraint audit_events_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade
    ) partition by range (id);
    create table audit_events_default partition of audit_events default;
    foreach part in array array['audit_events', 'audit_events_default'] loop
        execute format('alter table %I enable row level security', part);
        execute format('alter table %I force row level security', part);
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
            with check (tenant_id = (select tenant()) or (select system_scope()))', part);
    end loop;
    grant select, insert on audit_events to patchbay_app;

    if not exists (select from pg_constraint where conname = 'audit_events_before_month') then
        with late as (delete from audit_events_first where id >= audit_id_at(month) returning *)
        insert into audit_events_default select * from late;
    end if;
    execute format('alter table audit_events attach partition audit_events_first for values from (minvalue) to (%L)', audit_id_at(month));
    alter table audit_events_first drop constraint if exists audit_events_before_month;

    -- What hashes and chains takes a row of the table that is the log now.
    drop function audit_link(audit_events_first);
    drop function audit_hash(bytea, bigint, audit_events_first);
    create function audit_hash(before bytea, n bigint, e audit_events) returns bytea
        language sql immutable parallel safe
    as $f$ select sha256(before || int8send(n) || uuid_send(e.tenant_id) || uuid_send(e.id) || int8send((extract(epoch from e.at) * 1000000)::bigint)
        || audit_field(e.actor_type) || audit_field(e.actor_id::text) || audit_field(e.actor_name) || audit_field(e.action) || audit_field(e.target)
        || audit_field(e.detail::text) || audit_field(e.request_id) || audit_field(e.ip)) $f$;
    create function audit_link(e audit_events) returns void
        language plpgsql
    as $f$
    declare
        head audit_heads;
        next bytea;
    begin
        insert into audit_heads (tenant_id, events, hash) values (e.tenant_id, 0, decode(repeat('00', 32), 'hex')) on conflict do nothing;
        select * into head from audit_heads where tenant_id = e.tenant_id for update;
        next := audit_hash(head.hash, head.events + 1, e);
        insert into audit_chain (tenant_id, n, event_id, hash) values (e.tenant_id, head.events + 1, e.id, next);
        update audit_heads set events = head.events + 1, hash = next where tenant_id = e.tenant_id;
    end $f$;
    revoke all on function audit_link(audit_events) from public;
    create or replace function audit_append() returns trigger
        language plpgsql security definer
    as $f$
    declare
        e audit_events;
    begin
        if exists (select from tenants where id = new.tenant_id) then -- not deleted by the same transaction
            e := new; -- of whichever part
            perform audit_link(e);
        end if;
        return null;
    end $f$;
    execute format('alter function audit_append() set search_path = %I, pg_temp', current_schema());
    create constraint trigger audit_chained after insert on audit_events
        deferrable initially deferred for each row execute function audit_append();
end $$;
-- +goose StatementEnd

-- The parts of this month and of the next three, made ahead. What came meanwhile into audit_events_default for want of one is moved to where it
-- belongs, without a second link: the table has no trigger until it is a part. With the owner's rights: the runtime role makes no table.
-- Where the log is busy for two seconds it gives up, and is asked again; until then entries go into audit_events_default.
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
revoke all on function audit_make_months() from public;
grant execute on function audit_make_months() to patchbay_app;

-- +goose Down
drop function audit_make_months();
-- +goose StatementBegin
do $$
declare
    part text;
begin
    perform set_config('app.system', 'on', true);
    drop trigger audit_chained on audit_events;
    drop function audit_link(audit_events);
    drop function audit_hash(bytea, bigint, audit_events);
    alter table audit_events detach partition audit_events_first;
    for part in select inhrelid::regclass from pg_inherits where inhparent = 'audit_events'::regclass loop
        execute format('insert into audit_events_first select * from %s', part);
    end loop;
    drop table audit_events;
    alter table audit_events_first rename to audit_events;
    alter table audit_events rename constraint audit_events_first_pkey to audit_events_pkey;
    alter table audit_events rename constraint audit_events_first_tenant_id_fkey to audit_events_tenant_id_fkey;
    grant select, insert on audit_events to patchbay_app;
    create function audit_hash(before bytea, n bigint, e audit_events) returns bytea
        language sql immutable parallel safe
    as $f$ select sha256(before || int8send(n) || uuid_send(e.tenant_id) || uuid_send(e.id) || int8send((extract(epoch from e.at) * 1000000)::bigint)
        || audit_field(e.actor_type) || audit_field(e.actor_id::text) || audit_field(e.actor_name) || audit_field(e.action) || audit_field(e.target)
        || audit_field(e.detail::text) || audit_field(e.request_id) || audit_field(e.ip)) $f$;
    create function audit_link(e audit_events) returns void
        language plpgsql
    as $f$
    declare
        head audit_heads;
        next bytea;
    begin
        insert into audit_heads (tenant_id, events, hash) values (e.tenant_id, 0, decode(repeat('00', 32), 'hex')) on conflict do nothing;
        select * into head from audit_heads where tenant_id = e.tenant_id for update;
        next := audit_hash(head.hash, head.events + 1, e);
        insert into audit_chain (tenant_id, n, event_id, hash) values (e.tenant_id, head.events + 1, e.id, next);
        update audit_heads set events = head.events + 1, hash = next where tenant_id = e.tenant_id;
    end $f$;
    revoke all on function audit_link(audit_events) from public;
    create constraint trigger audit_chained after insert on audit_events
        deferrable initially deferred for each row execute function audit_append();
end $$;
-- +goose StatementEnd
drop function audit_id_at(timestamptz);
drop table audit_months;
