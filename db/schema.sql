-- The schema as the migrations leave it, for reviews: what changes here changes in the database.
-- Not run by anything. Written from a migrated database: UPDATE=1 go test ./db -run TestSchema

CREATE OR REPLACE FUNCTION public.audit_append()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    declare
        e audit_events;
    begin
        if exists (select from tenants where id = new.tenant_id) then -- not deleted by the same transaction
            e := new; -- of whichever part
            perform audit_link(e);
        end if;
        return null;
    end $function$

CREATE OR REPLACE FUNCTION public.audit_field(value text)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select case when value is null then int4send(-1) else int4send(octet_length(convert_to(value, 'UTF8'))) || convert_to(value, 'UTF8') end $function$

CREATE OR REPLACE FUNCTION public.audit_hash(before bytea, n bigint, e audit_events)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select sha256(before || int8send(n) || uuid_send(e.tenant_id) || uuid_send(e.id) || int8send((extract(epoch from e.at) * 1000000)::bigint)
        || audit_field(e.actor_type) || audit_field(e.actor_id::text) || audit_field(e.actor_name) || audit_field(e.action) || audit_field(e.target)
        || audit_field(e.detail::text) || audit_field(e.request_id) || audit_field(e.ip)) $function$

CREATE OR REPLACE FUNCTION public.audit_id_at(at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select rpad(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid $function$

CREATE OR REPLACE FUNCTION public.audit_link(e audit_events)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    declare
        head audit_heads;
        next bytea;
    begin
        insert into audit_heads (tenant_id, events, hash) values (e.tenant_id, 0, decode(repeat('00', 32), 'hex')) on conflict do nothing;
        select * into head from audit_heads where tenant_id = e.tenant_id for update;
        next := audit_hash(head.hash, head.events + 1, e);
        insert into audit_chain (tenant_id, n, event_id, hash) values (e.tenant_id, head.events + 1, e.id, next);
        update audit_heads set events = head.events + 1, hash = next where tenant_id = e.tenant_id;
    end $function$

CREATE OR REPLACE FUNCTION public.audit_make_months()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '2s'
 SET "TimeZone" TO 'UTC'
AS $function$
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
end $function$

CREATE OR REPLACE FUNCTION public.begin_outcomes()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
    scope text := current_setting('app.system', true);
begin
    perform set_config('app.system', 'on', true);
    insert into call_outcome_heads (tenant_id) values (new.id);
    perform set_config('app.system', coalesce(scope, ''), true);
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.check_account_name()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
    names text[];
    usable bigint;
    chosen bigint;
begin
    perform from connectors where connectors.tenant_id = new.tenant_id and connectors.id = new.connector_id for key share;
    perform pg_advisory_xact_lock(hashtextextended('accounts ' || new.tenant_id || ' ' || new.connector_id, 0));
    if new.agent_id is null then -- two statements, because "is not distinct from" uses no index
        select array_agg(c.name) into names
        from credentials c
        where c.tenant_id = new.tenant_id and c.connector_id = new.connector_id and c.agent_id is null and c.id <> new.id;
    else
        select array_agg(c.name) into names
        from credentials c
        where c.tenant_id = new.tenant_id and c.connector_id = new.connector_id and c.agent_id = new.agent_id and c.id <> new.id;
    end if;
    if exists (select from unnest(names) other(name) where other.name <> new.name and 'default' in (other.name, new.name)) then
        raise exception 'the account named default is not the only one'
            using errcode = 'check_violation', constraint = case new.name when 'default' then 'credentials_name_given' else 'credentials_default_alone' end;
    end if;
    if tg_op = 'UPDATE' or new.name = any(names) then
        return new; -- it replaces one
    end if;
    if new.agent_id is not null then
        return new;
    end if;
    select count(*), count(*) filter (where few.syncs) into usable, chosen
    from (select c.syncs
          from credentials c
          where c.tenant_id = new.tenant_id and c.connector_id = new.connector_id and c.agent_id is null
            and c.status in ('active', 'refresh_failed')
          limit 2) few;
    if usable = 0 then
        update credentials c
        set syncs = false
        where c.tenant_id = new.tenant_id and c.connector_id = new.connector_id and c.agent_id is null and c.syncs;
        new.syncs := true;
    elsif usable = 1 and chosen = 0 then
        update credentials c
        set syncs = true
        where c.tenant_id = new.tenant_id and c.connector_id = new.connector_id and c.agent_id is null
          and not exists (select from credentials other
                          where other.tenant_id = new.tenant_id and other.connector_id = new.connector_id
                            and other.agent_id is null and other.syncs)
          and c.status in ('active', 'refresh_failed');
    end if;
    return new;
end $function$

CREATE OR REPLACE FUNCTION public.check_membership()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
    person users;
begin
    select users.* into person from users where users.id = new.user_id;
    if person.issued_by <> new.tenant_id then
        raise exception 'the account was issued by another tenant' using errcode = 'check_violation', constraint = 'memberships_of_issuer';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('patchbay member ' || new.tenant_id::text || ' ' || person.address, 0));
    if exists (
        select from memberships
        join users on users.id = memberships.user_id
        where memberships.tenant_id = new.tenant_id and users.address = person.address and users.id <> person.id)
    then
        raise exception 'a member has this address' using errcode = 'unique_violation', constraint = 'memberships_pkey';
    end if;
    return new;
end $function$

CREATE OR REPLACE FUNCTION public.connector_is_down(failures integer, failing_since timestamp with time zone, checked_at timestamp with time zone, after_failures integer, after_minutes integer)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$ select failing_since is not null
          and (failures >= after_failures or failures > 1 and checked_at >= failing_since + make_interval(mins => after_minutes)) $function$

CREATE OR REPLACE FUNCTION public.connector_needs_credential(auth_type text, stored bigint, ended bigint)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$ select auth_type <> 'none' and (ended > 0 or stored = 0 and auth_type in ('bearer', 'api_key', 'basic', 'oauth2')) $function$

CREATE OR REPLACE FUNCTION public.connector_status(of_syncs text, needs_credential boolean)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$ select case when of_syncs in ('ok', 'error') and needs_credential then 'needs_auth' else of_syncs end $function$

CREATE OR REPLACE FUNCTION public.count_calls(tenants uuid[], ended_at timestamp with time zone[], statuses text[], took_us bigint[])
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
begin
    insert into call_hours (tenant_id, hour, bucket, ok, failed, other)
    select ended.tenant_id, date_trunc('hour', ended.at, 'UTC'), latency_bucket(ended.us),
           count(*) filter (where ended.status = 'success'), count(*) filter (where ended.status = 'error'),
           count(*) filter (where ended.status in ('denied', 'cancelled'))
    from unnest(tenants, ended_at, statuses, took_us) as ended (tenant_id, at, status, us)
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict on constraint call_hours_pkey do update
    set ok = call_hours.ok + excluded.ok,
        failed = call_hours.failed + excluded.failed,
        other = call_hours.other + excluded.other;
    return coalesce(cardinality(tenants), 0);
end $function$

CREATE OR REPLACE FUNCTION public.delete_credentials_of_connector()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    delete from credentials where credentials.tenant_id = old.tenant_id and credentials.connector_id = old.id;
    return old;
end $function$

CREATE OR REPLACE FUNCTION public.drop_answers_of_agent()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    delete from gateway_mail m
    where m.tenant_id = new.tenant_id and m.agent_id = new.id and m.connector_id is not null;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.drop_answers_of_tenant()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    delete from gateway_mail m
    where m.tenant_id = new.id and m.connector_id is not null;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.end_allowances_of_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    if tg_op = 'UPDATE' and new.id = old.id then
        return null;
    end if;
    if old.agent_id is null then -- two statements, so that an agent's own account is found by its index
        delete from tool_allowances a
        using agent_grants g
        where a.tenant_id = old.tenant_id and a.connector_id = old.connector_id
          and g.tenant_id = a.tenant_id and g.connector_id = a.connector_id and g.agent_id = a.agent_id
          and (g.accounts = '{}' or old.name = any(g.accounts)) and a.account in ('', old.name);
    else
        delete from tool_allowances a
        using agent_grants g
        where a.tenant_id = old.tenant_id and a.connector_id = old.connector_id and a.agent_id = old.agent_id
          and g.tenant_id = old.tenant_id and g.connector_id = old.connector_id and g.agent_id = old.agent_id
          and (g.accounts = '{}' or old.name = any(g.accounts)) and a.account in ('', old.name);
    end if;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.end_allowances_of_agent()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    delete from tool_allowances a
    using agent_grants g
    where a.tenant_id = new.tenant_id and a.agent_id = new.id
      and g.tenant_id = a.tenant_id and g.agent_id = a.agent_id and g.connector_id = a.connector_id and g.approval is null;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.end_allowances_of_grant()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    delete from tool_allowances a
    where a.tenant_id = new.tenant_id and a.agent_id = new.agent_id and a.connector_id = new.connector_id
      and (old.approval is distinct from new.approval or old.accounts is distinct from new.accounts
          or old.until <= now() or (old.tool_ends ->> a.tool)::timestamptz <= now()
          or not case a.kind
          when 'tool' then new.all_tools or a.tool = any(new.tools) or new.tool_ends ? a.tool
          when 'prompt' then new.prompts = 'listed'
          else new.resources = 'listed_and_templates' or new.resources = 'listed' and exists (
              select from connector_items i
              where i.tenant_id = a.tenant_id and i.connector_id = a.connector_id and i.kind = 'resource' and i.key = a.tool)
          end);
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.has_password(person uuid)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
    scope constant text := coalesce(current_setting('app.system', true), '');
    found boolean;
begin
    perform set_config('app.system', 'on', true);
    found := exists (
        select from user_passwords
        join memberships on memberships.user_id = user_passwords.user_id
        where user_passwords.user_id = person and memberships.tenant_id = tenant());
    perform set_config('app.system', scope, true);
    return found;
end $function$

CREATE OR REPLACE FUNCTION public.hide_password_hashes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    if not exists (select from instances where not instances.user_passwords) then
        update users set password_hash = null where users.password_hash is not null;
    end if;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.keep_both_copies()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    if old.moving is not null and new.moving is not distinct from old.moving and new.wrapped <> old.wrapped then
        raise exception 'these keys are being moved to another PATCHBAY_KEYSET' using errcode = 'PB002';
    end if;
    return new;
end $function$

CREATE OR REPLACE FUNCTION public.keep_hour()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    insert into connector_health (tenant_id, connector_id, hour, ok, failed, ms_sum, ms_max)
    values (old.tenant_id, old.connector_id, old.hour, old.hour_ok, old.hour_failed, old.hour_ms, old.hour_max_ms)
    on conflict on constraint connector_health_pkey do nothing;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.latency_bucket(us bigint)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE
AS $function$
    select case when us is null then -1 else least(80, greatest(0, ceil(4 * log(greatest(us, 1) / 125.0::float8) / log(2.0::float8)))) end::smallint
$function$

CREATE OR REPLACE FUNCTION public.leave_calls()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    case tg_table_name
        when 'agents' then
            update tool_calls set agent_id = null from gone where tool_calls.tenant_id = gone.tenant_id and tool_calls.agent_id = gone.id;
        when 'connectors' then
            update tool_calls set connector_id = null from gone where tool_calls.tenant_id = gone.tenant_id and tool_calls.connector_id = gone.id;
        when 'tenants' then
            delete from tool_calls using gone where tool_calls.tenant_id = gone.id;
    end case;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.leave_definitions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    case tg_table_name
        when 'connectors' then
            delete from tool_changes using gone where tool_changes.tenant_id = gone.tenant_id and tool_changes.connector_id = gone.id;
        when 'tenants' then -- its tools would go a moment later
            delete from tools using gone where tools.tenant_id = gone.id;
            delete from tool_definitions using gone where tool_definitions.tenant_id = gone.id;
    end case;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.link_outcomes(what text, tenants uuid[], counts bigint[], bodies bytea[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
    scope   text := current_setting('app.system', true);
    written bigint;
begin
    perform set_config('app.system', 'on', true);
    with heads as materialized (
        select h.tenant_id, h.places, h.records, h.hash, greatest(h.at, clock_timestamp()) as at
        from call_outcome_heads h
        where h.tenant_id = any(tenants)
        order by h.tenant_id
        for no key update
    ), links as materialized (
        select heads.tenant_id, heads.places + 1 as n, heads.records as before, heads.at, new.calls, new.body,
               outcome_hash(heads.hash, heads.places + 1, heads.tenant_id, heads.at, what, new.calls, new.body) as hash
        from unnest(tenants, counts, bodies) as new (tenant_id, calls, body)
        join heads on heads.tenant_id = new.tenant_id
    ), moved as (
        update call_outcome_heads h
        set places = links.n,
            calls = h.calls + case when what = 'ended' then links.calls else 0 end,
            records = links.before + case when what = 'removed' then 1 else links.calls end,
            hash = links.hash,
            at = links.at
        from links
        where h.tenant_id = links.tenant_id
    )
    insert into call_outcomes (tenant_id, n, at, kind, calls, body, hash, records_before)
    select links.tenant_id, links.n, links.at, what, links.calls, links.body, links.hash, links.before
    from links;
    get diagnostics written = row_count;
    perform set_config('app.system', coalesce(scope, ''), true);
    if written <> cardinality(tenants) then
        raise exception 'how calls of % tenants ended is on record of %', cardinality(tenants), written;
    end if;
end $function$

CREATE OR REPLACE FUNCTION public.next_due(interval_s integer)
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$ select case when interval_s >= 60 then date_bin(interval '5 seconds', at, timestamptz 'epoch') else at end
      from (select now() + nullif(interval_s, 0) * (0.95 + 0.1 * random()) * interval '1 second' as at) _ $function$

CREATE OR REPLACE FUNCTION public.note_calls()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET client_encoding TO 'UTF8'
AS $function$
        begin
            perform link_outcomes('ended', array_agg(those.tenant_id), array_agg(those.calls), array_agg(those.body))
            from (
                select c.tenant_id, count(*) as calls, (
        (array_send(array_agg(c.id)) || array_send(array_agg(c.agent_id)) || array_send(array_agg(c.agent_slug)) || array_send(array_agg(c.connector_id)))
        || (array_send(array_agg(c.connector_slug)) || array_send(array_agg(c.kind)) || array_send(array_agg(c.tool)) || array_send(array_agg(c.source)))
        || ((array_send(array_agg(c.caller)) || array_send(array_agg(c.token_id)) || array_send(array_agg(c.credential_id)) || array_send(array_agg(c.definition_hash)))
        || (array_send(array_agg(c.status)) || array_send(array_agg(c.outcome)) || array_send(array_agg(c.error_code)) || array_send(array_agg(c.is_error))))
        || ((array_send(array_agg(c.approved_by)) || array_send(array_agg(c.request_bytes)) || array_send(array_agg(c.response_bytes)))
        || (array_send(array_agg(c.started_at)) || array_send(array_agg(c.completed_at)) || array_send(array_agg(c.duration_us))))
        || (array_send(array_agg(c.address)) || array_send(array_agg(c.request_id)))) as body
                from new_calls c
                where c.completed_at is not null
                group by c.tenant_id
            ) those
            having count(*) > 0;
            return null;
        end $function$

CREATE OR REPLACE FUNCTION public.note_changed_calls()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_nestloop TO 'off'
 SET client_encoding TO 'UTF8'
AS $function$
        begin
            if not exists (select from new_calls where completed_at is not null) then
                return null;
            end if;
            perform link_outcomes('ended', array_agg(those.tenant_id), array_agg(those.calls), array_agg(those.body))
            from (
                select c.tenant_id, count(*) as calls, (
        (array_send(array_agg(c.id)) || array_send(array_agg(c.agent_id)) || array_send(array_agg(c.agent_slug)) || array_send(array_agg(c.connector_id)))
        || (array_send(array_agg(c.connector_slug)) || array_send(array_agg(c.kind)) || array_send(array_agg(c.tool)) || array_send(array_agg(c.source)))
        || ((array_send(array_agg(c.caller)) || array_send(array_agg(c.token_id)) || array_send(array_agg(c.credential_id)) || array_send(array_agg(c.definition_hash)))
        || (array_send(array_agg(c.status)) || array_send(array_agg(c.outcome)) || array_send(array_agg(c.error_code)) || array_send(array_agg(c.is_error))))
        || ((array_send(array_agg(c.approved_by)) || array_send(array_agg(c.request_bytes)) || array_send(array_agg(c.response_bytes)))
        || (array_send(array_agg(c.started_at)) || array_send(array_agg(c.completed_at)) || array_send(array_agg(c.duration_us))))
        || (array_send(array_agg(c.address)) || array_send(array_agg(c.request_id)))) as body
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
                select c.tenant_id, count(*) as calls, (
        (array_send(array_agg(c.id)) || array_send(array_agg(c.agent_id)) || array_send(array_agg(c.agent_slug)) || array_send(array_agg(c.connector_id)))
        || (array_send(array_agg(c.connector_slug)) || array_send(array_agg(c.kind)) || array_send(array_agg(c.tool)) || array_send(array_agg(c.source)))
        || ((array_send(array_agg(c.caller)) || array_send(array_agg(c.token_id)) || array_send(array_agg(c.credential_id)) || array_send(array_agg(c.definition_hash)))
        || (array_send(array_agg(c.status)) || array_send(array_agg(c.outcome)) || array_send(array_agg(c.error_code)) || array_send(array_agg(c.is_error))))
        || ((array_send(array_agg(c.approved_by)) || array_send(array_agg(c.request_bytes)) || array_send(array_agg(c.response_bytes)))
        || (array_send(array_agg(c.started_at)) || array_send(array_agg(c.completed_at)) || array_send(array_agg(c.duration_us))))
        || (array_send(array_agg(c.address)) || array_send(array_agg(c.request_id)))) as body
                from new_calls c
                join old_calls o on o.tenant_id = c.tenant_id and o.id = c.id
                where o.completed_at is not null
                  and (c.agent_id, c.agent_slug, c.connector_id, c.connector_slug, c.kind, c.tool, c.source, c.caller, c.token_id, c.credential_id,
                       c.definition_hash, c.status, c.outcome, c.error_code, c.is_error, c.approved_by, c.request_bytes, c.response_bytes,
                       c.started_at, c.completed_at, c.duration_us, c.address, c.request_id)
                      is distinct from
                      (o.agent_id, o.agent_slug, o.connector_id, o.connector_slug, o.kind, o.tool, o.source, o.caller, o.token_id, o.credential_id,
                       o.definition_hash, o.status, o.outcome, o.error_code, o.is_error, o.approved_by, o.request_bytes, o.response_bytes,
                       o.started_at, o.completed_at, o.duration_us, o.address, o.request_id)
                group by c.tenant_id
            ) those
            having count(*) > 0;
            return null;
        end $function$

CREATE OR REPLACE FUNCTION public.note_removed_calls()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
end $function$

CREATE OR REPLACE FUNCTION public.outcome_hash(before bytea, n bigint, tenant uuid, at timestamp with time zone, kind text, calls bigint, body bytea)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select sha256(before || int8send(n) || uuid_send(tenant) || int8send((extract(epoch from at) * 1000000)::bigint)
    || audit_field(kind) || int8send(calls) || body) $function$

CREATE OR REPLACE FUNCTION public.queue_revocation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
    revocation uuid := case tg_op when 'DELETE' then old.id else gen_random_uuid() end;
begin
    if not exists (select from tenants where tenants.id = old.tenant_id) then
        return case tg_op when 'DELETE' then old else new end;
    end if;
    insert into account_revocations (tenant_id, id, connector_id, agent_id, origin, sealed, grant_meta, account, connector_slug, connector_name, name)
    select old.tenant_id, revocation, old.connector_id, old.agent_id, old.origin, old.sealed, old.grant_meta, old.account,
           coalesce(c.slug, ''), coalesce(c.name, ''), old.name
    from (select) one
    left join connectors c on c.tenant_id = old.tenant_id and c.id = old.connector_id
    on conflict on constraint account_revocations_pkey do nothing;
    insert into revocation_clients (tenant_id, id, connector_id, client_id, origin, issuer, sealed)
    select c.tenant_id, revocation, c.connector_id, c.client_id, c.origin, c.issuer, c.sealed
    from connector_clients c
    where c.tenant_id = old.tenant_id
      and c.connector_id = old.connector_id
      and c.client_id = old.grant_meta ->> 'client_id'
      and c.issuer = old.grant_meta #>> '{server,issuer}'
    on conflict on constraint revocation_clients_pkey do nothing;
    return case tg_op when 'DELETE' then old else new end;
end $function$

CREATE OR REPLACE FUNCTION public.refuse_retired_installation_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    perform pg_advisory_xact_lock_shared(hashtextextended('patchbay sealed', 0));
    if exists (select from retired_keys where retired_keys.prefix = substring(new.sealed from 1 for 5)) then
        raise exception 'sealed by a retired key' using errcode = 'PB001';
    end if;
    return new;
end $function$

CREATE OR REPLACE FUNCTION public.refuse_retired_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    perform pg_advisory_xact_lock_shared(hashtextextended('patchbay sealed', 0));
    if exists (select from retired_keys where retired_keys.prefix = substring(new.sealed from 1 for 5))
       or exists (select from retired_tenant_keys r where r.tenant_id = new.tenant_id and r.prefix = substring(new.sealed from 1 for 5)) then
        raise exception 'sealed by a retired key' using errcode = 'PB001';
    end if;
    return new;
end $function$

CREATE OR REPLACE FUNCTION public.refuse_retired_mac()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare made bytea;
begin
    if tg_table_name = 'recovery_codes' then
        made := new.mac;
    else
        made := new.secret_mac;
    end if;
    perform pg_advisory_xact_lock_shared(hashtextextended('patchbay sealed', 0));
    if exists (select from retired_mac_keys r where r.prefix = substring(made from 1 for 5)) then
        raise exception 'authenticated by a retired key' using errcode = 'PB001';
    end if;
    return new;
end $function$

CREATE OR REPLACE FUNCTION public.refuse_retiring_wrapping_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    if exists (select from tenant_keys where substring(tenant_keys.sealed from 1 for 5) = new.prefix) then
        raise exception 'tenants'' keys are sealed by this key';
    end if;
    if exists (select from second_factors where substring(second_factors.sealed from 1 for 5) = new.prefix) then
        raise exception 'second factors are sealed by this key';
    end if;
    return new;
end $function$

CREATE OR REPLACE FUNCTION public.resume_clock()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    update connector_clock
    set due_at = now() + make_interval(secs => least(connectors.sync_interval_s, 60))
    from connectors
    where connector_clock.tenant_id = new.tenant_id and connector_clock.connector_id = new.connector_id and connector_clock.due_at is null
      and connectors.tenant_id = new.tenant_id and connectors.id = new.connector_id and connectors.enabled and connectors.sync_interval_s > 0;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.say_account_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
    account credentials := coalesce(new, old);
begin
    if tg_op = 'UPDATE' and new.id = old.id and new.name = old.name then
        return null;
    end if;
    if account.agent_id is null then
        perform pg_notify('patchbay_changes', 'agent ' || g.tenant_id || ' ' || g.agent_id)
        from agent_grants g
        where g.tenant_id = account.tenant_id and g.connector_id = account.connector_id and g.accounts && array[old.name, new.name];
    else
        perform pg_notify('patchbay_changes', 'agent ' || g.tenant_id || ' ' || g.agent_id)
        from agent_grants g
        where g.tenant_id = account.tenant_id and g.connector_id = account.connector_id and g.agent_id = account.agent_id
          and g.accounts && array[old.name, new.name];
    end if;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.say_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
    row jsonb := to_jsonb(coalesce(new, old));
begin
    perform pg_notify('patchbay_changes', tg_argv[0] || ' ' || (row ->> tg_argv[1]) || ' ' || coalesce(row ->> tg_argv[2], ''));
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.say_changed_tools()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    perform pg_notify('patchbay_changes', 'connector ' || said.tenant_id || ' ' || said.connector_id)
    from (select distinct changed.tenant_id, changed.connector_id from changed) said;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.set_clock()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    insert into connector_clock (tenant_id, connector_id, due_at)
    values (new.tenant_id, new.id, case when new.enabled then now() + make_interval(secs => nullif(new.sync_interval_s, 0)) end)
    on conflict on constraint connector_clock_pkey do update set due_at = excluded.due_at, known_until = null;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.show_password_hashes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    update users
    set password_hash = user_passwords.hash
    from user_passwords
    where user_passwords.user_id = users.id and users.issued_by is null and users.password_hash is distinct from user_passwords.hash;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.store_password_hash()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    if tg_op = 'UPDATE' and new.password_hash = old.password_hash then
        return null;
    elsif tg_op = 'UPDATE' and old.password_hash is null and new.password_set_at = old.password_set_at then
        insert into user_passwords (user_id, hash) values (new.id, new.password_hash) on conflict on constraint user_passwords_pkey do nothing;
    else
        insert into user_passwords (user_id, hash) values (new.id, new.password_hash)
        on conflict on constraint user_passwords_pkey do update set hash = excluded.hash;
    end if;
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.system_scope()
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$ select coalesce(current_setting('app.system', true), '') = 'on' $function$

CREATE OR REPLACE FUNCTION public.tell_of_deleted_keys()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
    update keysets set generation = generation + 1 where purpose = 'seal';
    return null;
end $function$

CREATE OR REPLACE FUNCTION public.tenant()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$ select nullif(current_setting('app.tenant_id', true), '')::uuid $function$

create table access_requests (
    tenant_id uuid not null,
    id uuid not null,
    agent_id uuid not null,
    connector_id uuid not null,
    all_tools boolean not null,
    tools text[] not null default '{}'::text[],
    reason text not null,
    until timestamp with time zone,
    asker uuid not null,
    asked_by text not null,
    asked_at timestamp with time zone not null default now(),
    state text not null default 'open'::text,
    decided_by text not null default ''::text,
    decided_at timestamp with time zone,
    note text not null default ''::text,
    constraint access_requests_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint access_requests_all_or_named CHECK ((all_tools = (cardinality(tools) = 0))),
    constraint access_requests_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint access_requests_decided CHECK (((state = 'open'::text) = (decided_at IS NULL))),
    constraint access_requests_note_length CHECK ((length(note) <= 1000)),
    constraint access_requests_pkey PRIMARY KEY (tenant_id, id),
    constraint access_requests_reason_length CHECK (((length(reason) >= 1) AND (length(reason) <= 1000))),
    constraint access_requests_state_known CHECK ((state = ANY (ARRAY['open'::text, 'accepted'::text, 'refused'::text, 'withdrawn'::text]))),
    constraint access_requests_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint access_requests_tools_number CHECK ((cardinality(tools) <= 100))
);
CREATE INDEX access_requests_agent_idx ON public.access_requests USING btree (tenant_id, agent_id);
CREATE INDEX access_requests_connector_idx ON public.access_requests USING btree (tenant_id, connector_id);
CREATE INDEX access_requests_open_idx ON public.access_requests USING btree (tenant_id, id) WHERE (state = 'open'::text);
CREATE UNIQUE INDEX access_requests_open_key ON public.access_requests USING btree (tenant_id, asker, agent_id, connector_id) WHERE (state = 'open'::text);
alter table access_requests enable row level security;
alter table access_requests force row level security;
create policy tenant_rows on access_requests for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on access_requests to patchbay_app;

create table account_requests (
    tenant_id uuid not null,
    id uuid not null,
    agent_id uuid not null,
    connector_id uuid not null,
    session text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null,
    connected_at timestamp with time zone,
    used_at timestamp with time zone,
    constraint account_requests_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint account_requests_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint account_requests_pkey PRIMARY KEY (tenant_id, id),
    constraint account_requests_session_length CHECK ((length(session) <= 300)),
    constraint account_requests_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint account_requests_used_connected CHECK (((used_at IS NULL) OR (connected_at IS NOT NULL)))
);
CREATE INDEX account_requests_agent_idx ON public.account_requests USING btree (tenant_id, agent_id, connector_id);
CREATE INDEX account_requests_connector_idx ON public.account_requests USING btree (tenant_id, connector_id);
CREATE TRIGGER say_account_change AFTER UPDATE ON public.account_requests FOR EACH ROW WHEN (((old.connected_at IS NULL) AND (new.connected_at IS NOT NULL))) EXECUTE FUNCTION say_change('account', 'tenant_id', 'agent_id');
alter table account_requests enable row level security;
alter table account_requests force row level security;
create policy tenant_rows on account_requests for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on account_requests to patchbay_app;

create table account_revocations (
    tenant_id uuid not null,
    id uuid not null,
    connector_id uuid not null,
    agent_id uuid,
    origin text not null,
    sealed bytea not null,
    grant_meta jsonb not null,
    account text not null default ''::text,
    tries integer not null default 0,
    due_at timestamp with time zone not null default (now() + '00:00:10'::interval),
    created_at timestamp with time zone not null default now(),
    connector_slug text not null default ''::text,
    connector_name text not null default ''::text,
    claimed_until timestamp with time zone,
    name text not null default 'default'::text,
    constraint account_revocations_pkey PRIMARY KEY (tenant_id, id),
    constraint account_revocations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint account_revocations_tries_positive CHECK ((tries >= 0))
);
CREATE INDEX account_revocations_claimed_idx ON public.account_revocations USING btree (claimed_until) WHERE (claimed_until IS NOT NULL);
CREATE INDEX account_revocations_due_idx ON public.account_revocations USING btree (due_at);
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.account_revocations FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table account_revocations enable row level security;
alter table account_revocations force row level security;
create policy tenant_rows on account_revocations for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on account_revocations to patchbay_app;

create table agent_clients (
    tenant_id uuid not null,
    id uuid not null,
    agent_id uuid,
    user_id uuid not null,
    client_id text not null,
    client_name text not null,
    client_host text not null default ''::text,
    resource text not null,
    redirect_uri text not null,
    code_mac bytea not null,
    challenge bytea not null,
    code_expires_at timestamp with time zone not null,
    code_used_at timestamp with time zone,
    salt bytea not null,
    generation integer not null default 0,
    rotated_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null,
    scope text,
    by_sso boolean not null default false,
    key_thumbprint text,
    dpop_required boolean not null default false,
    constraint agent_clients_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint agent_clients_agent_or_member CHECK ((((agent_id IS NULL) = (scope IS NOT NULL)) AND ((scope IS NOT NULL) = (resource = '/mcp/admin'::text)))),
    constraint agent_clients_challenge_length CHECK ((length(challenge) = 32)),
    constraint agent_clients_generation_used CHECK ((((generation = 0) = (rotated_at IS NULL)) AND ((generation = 0) OR (code_used_at IS NOT NULL)))),
    constraint agent_clients_id_key UNIQUE (id),
    constraint agent_clients_key_thumbprint_length CHECK ((length(key_thumbprint) = 43)) NOT VALID,
    constraint agent_clients_lengths CHECK ((((length(client_id) >= 1) AND (length(client_id) <= 2048)) AND ((length(client_name) >= 1) AND (length(client_name) <= 100)) AND (length(client_host) <= 300) AND ((length(resource) >= 4) AND (length(resource) <= 100)) AND ((length(redirect_uri) >= 1) AND (length(redirect_uri) <= 2048)))),
    constraint agent_clients_member_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES memberships(tenant_id, user_id) ON DELETE CASCADE,
    constraint agent_clients_pkey PRIMARY KEY (tenant_id, id),
    constraint agent_clients_salt_length CHECK ((length(salt) = 32)),
    constraint agent_clients_scope_known CHECK ((scope = ANY (ARRAY['admin:read'::text, 'admin'::text]))),
    constraint agent_clients_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX agent_clients_agent_idx ON public.agent_clients USING btree (tenant_id, agent_id, id DESC);
CREATE INDEX agent_clients_expires_idx ON public.agent_clients USING btree (tenant_id, expires_at);
CREATE INDEX agent_clients_member_idx ON public.agent_clients USING btree (tenant_id, user_id, id DESC);
alter table agent_clients enable row level security;
alter table agent_clients force row level security;
create policy tenant_rows on agent_clients for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on agent_clients to patchbay_app;

create table agent_grants (
    tenant_id uuid not null,
    agent_id uuid not null,
    connector_id uuid not null,
    all_tools boolean not null,
    tools text[] not null default '{}'::text[],
    approval text,
    trusted_tools text[] not null default '{}'::text[],
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    prompts text not null default 'listed'::text,
    resources text not null default 'listed_and_templates'::text,
    pinned_tools text[] not null default '{}'::text[],
    shaping jsonb not null default '{}'::jsonb,
    until timestamp with time zone,
    tool_ends jsonb not null default '{}'::jsonb,
    accounts text[] not null default '{}'::text[],
    constraint agent_grants_accounts_marked CHECK (((cardinality(accounts) <= 1) OR ((accounts[1] = '-'::text) AND ((cardinality(accounts) >= 3) AND (cardinality(accounts) <= 11))))) NOT VALID,
    constraint agent_grants_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint agent_grants_all_or_named CHECK (((NOT all_tools) OR (cardinality(tools) = 0))),
    constraint agent_grants_approval_known CHECK ((approval = ANY (ARRAY['auto'::text, 'always_ask'::text, 'trusted_only'::text, 'always_ask_all'::text]))) NOT VALID,
    constraint agent_grants_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint agent_grants_pinned_number CHECK ((cardinality(pinned_tools) <= 50)) NOT VALID,
    constraint agent_grants_pkey PRIMARY KEY (tenant_id, agent_id, connector_id),
    constraint agent_grants_prompts_known CHECK ((prompts = ANY (ARRAY['none'::text, 'listed'::text]))) NOT VALID,
    constraint agent_grants_resources_known CHECK ((resources = ANY (ARRAY['none'::text, 'listed'::text, 'listed_and_templates'::text]))) NOT VALID,
    constraint agent_grants_shaping_object CHECK ((jsonb_typeof(shaping) = 'object'::text)) NOT VALID,
    constraint agent_grants_tool_ends_object CHECK ((jsonb_typeof(tool_ends) = 'object'::text)) NOT VALID,
    constraint agent_grants_tools_number CHECK (((cardinality(tools) <= 5000) AND (cardinality(trusted_tools) <= 5000)))
);
CREATE INDEX agent_grants_connector_idx ON public.agent_grants USING btree (tenant_id, connector_id);
CREATE TRIGGER end_allowances AFTER UPDATE ON public.agent_grants FOR EACH ROW WHEN (((old.approval IS DISTINCT FROM new.approval) OR (old.all_tools IS DISTINCT FROM new.all_tools) OR (old.tools IS DISTINCT FROM new.tools) OR (old.prompts IS DISTINCT FROM new.prompts) OR (old.resources IS DISTINCT FROM new.resources) OR (old.until IS DISTINCT FROM new.until) OR (old.tool_ends IS DISTINCT FROM new.tool_ends) OR (old.accounts IS DISTINCT FROM new.accounts))) EXECUTE FUNCTION end_allowances_of_grant();
CREATE TRIGGER say_grant_change AFTER INSERT OR DELETE OR UPDATE ON public.agent_grants FOR EACH ROW EXECUTE FUNCTION say_change('agent', 'tenant_id', 'agent_id');
alter table agent_grants enable row level security;
alter table agent_grants force row level security;
create policy tenant_rows on agent_grants for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on agent_grants to patchbay_app;

create table agent_tokens (
    tenant_id uuid not null,
    id uuid not null,
    agent_id uuid not null,
    name text not null default ''::text,
    prefix text not null,
    secret_mac bytea not null,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    agent_client_id uuid,
    resource text,
    agent_workload_id uuid,
    key_thumbprint text,
    constraint agent_tokens_agent_client_fkey FOREIGN KEY (tenant_id, agent_client_id) REFERENCES agent_clients(tenant_id, id) ON DELETE CASCADE,
    constraint agent_tokens_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint agent_tokens_agent_workload_fkey FOREIGN KEY (tenant_id, agent_workload_id) REFERENCES agent_workloads(tenant_id, id) ON DELETE CASCADE NOT VALID,
    constraint agent_tokens_id_key UNIQUE (id),
    constraint agent_tokens_key_thumbprint_length CHECK ((length(key_thumbprint) = 43)) NOT VALID,
    constraint agent_tokens_name_length CHECK ((length(name) <= 100)),
    constraint agent_tokens_of_a_client_bound CHECK (((agent_client_id IS NULL) OR ((resource IS NOT NULL) AND (expires_at IS NOT NULL)))),
    constraint agent_tokens_of_a_key_bound CHECK (((key_thumbprint IS NULL) OR ((resource IS NOT NULL) AND (expires_at IS NOT NULL)))) NOT VALID,
    constraint agent_tokens_of_a_workload_bound CHECK (((agent_workload_id IS NULL) OR ((agent_client_id IS NULL) AND (resource IS NOT NULL) AND (expires_at IS NOT NULL)))) NOT VALID,
    constraint agent_tokens_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX agent_tokens_agent_client_idx ON public.agent_tokens USING btree (tenant_id, agent_client_id) WHERE (agent_client_id IS NOT NULL);
CREATE INDEX agent_tokens_agent_idx ON public.agent_tokens USING btree (tenant_id, agent_id);
CREATE INDEX agent_tokens_agent_workload_idx ON public.agent_tokens USING btree (tenant_id, agent_workload_id, created_at) WHERE (agent_workload_id IS NOT NULL);
CREATE TRIGGER recognised_by_a_living_key BEFORE INSERT OR UPDATE OF secret_mac ON public.agent_tokens FOR EACH ROW EXECUTE FUNCTION refuse_retired_mac();
CREATE TRIGGER say_token_change AFTER DELETE OR UPDATE OF expires_at ON public.agent_tokens FOR EACH ROW EXECUTE FUNCTION say_change('token', 'tenant_id', 'id');
alter table agent_tokens enable row level security;
alter table agent_tokens force row level security;
create policy tenant_rows on agent_tokens for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on agent_tokens to patchbay_app;

create table agent_workloads (
    tenant_id uuid not null,
    id uuid not null,
    agent_id uuid not null,
    name text not null,
    issuer text not null,
    subject text not null,
    keys jsonb,
    created_at timestamp with time zone not null default now(),
    last_used_at timestamp with time zone,
    constraint agent_workloads_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint agent_workloads_id_key UNIQUE (id),
    constraint agent_workloads_lengths CHECK ((((octet_length(issuer) >= 1) AND (octet_length(issuer) <= 500)) AND ((octet_length(subject) >= 1) AND (octet_length(subject) <= 500)) AND (octet_length((keys)::text) <= 131072))),
    constraint agent_workloads_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    constraint agent_workloads_pkey PRIMARY KEY (tenant_id, id),
    constraint agent_workloads_subject_key UNIQUE (tenant_id, agent_id, issuer, subject)
);
alter table agent_workloads enable row level security;
alter table agent_workloads force row level security;
create policy tenant_rows on agent_workloads for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on agent_workloads to patchbay_app;

create table agents (
    tenant_id uuid not null,
    id uuid not null,
    slug text not null,
    name text not null,
    description text not null default ''::text,
    approval text not null default 'always_ask'::text,
    enabled boolean not null default true,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    name_limit integer not null default 64,
    calls_per_minute integer not null default 0,
    tool_list text not null default 'full'::text,
    disconnected uuid[] not null default '{}'::uuid[],
    constraint agents_approval_known CHECK ((approval = ANY (ARRAY['auto'::text, 'always_ask'::text, 'trusted_only'::text, 'always_ask_all'::text]))) NOT VALID,
    constraint agents_calls_per_minute_range CHECK (((calls_per_minute >= 0) AND (calls_per_minute <= 1000000))),
    constraint agents_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    constraint agents_name_limit_range CHECK (((name_limit >= 64) AND (name_limit <= 128))),
    constraint agents_pkey PRIMARY KEY (tenant_id, id),
    constraint agents_slug_form CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$'::text)),
    constraint agents_slug_key UNIQUE (tenant_id, slug),
    constraint agents_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint agents_tool_list_known CHECK ((tool_list = ANY (ARRAY['full'::text, 'lean'::text, 'auto'::text]))) NOT VALID
);
CREATE TRIGGER drop_answers AFTER UPDATE ON public.agents FOR EACH ROW WHEN ((old.enabled AND (NOT new.enabled))) EXECUTE FUNCTION drop_answers_of_agent();
CREATE TRIGGER end_allowances AFTER UPDATE ON public.agents FOR EACH ROW WHEN ((old.approval IS DISTINCT FROM new.approval)) EXECUTE FUNCTION end_allowances_of_agent();
CREATE TRIGGER leave_calls AFTER DELETE ON public.agents REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION leave_calls();
CREATE TRIGGER say_agent_change AFTER DELETE OR UPDATE ON public.agents FOR EACH ROW EXECUTE FUNCTION say_change('agent', 'tenant_id', 'id');
alter table agents enable row level security;
alter table agents force row level security;
create policy tenant_rows on agents for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on agents to patchbay_app;

create table api_documents (
    tenant_id uuid not null,
    connector_id uuid not null,
    is_fetched boolean not null,
    etag text not null default ''::text,
    hash bytea not null,
    body bytea not null,
    read_at timestamp with time zone not null default now(),
    seen text[] not null default '{}'::text[],
    constraint api_documents_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint api_documents_etag_length CHECK ((length(etag) <= 1024)),
    constraint api_documents_hash_length CHECK ((length(hash) = 32)),
    constraint api_documents_pkey PRIMARY KEY (tenant_id, connector_id),
    constraint api_documents_size CHECK ((length(body) <= 16777216))
);
alter table api_documents enable row level security;
alter table api_documents force row level security;
create policy tenant_rows on api_documents for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on api_documents to patchbay_app;

create table api_keys (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    role text not null,
    prefix text not null,
    secret_mac bytea not null,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_by_name text not null default ''::text,
    constraint api_keys_id_key UNIQUE (id),
    constraint api_keys_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    constraint api_keys_pkey PRIMARY KEY (tenant_id, id),
    constraint api_keys_role_known CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text, 'owner'::text, 'auditor'::text]))),
    constraint api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER recognised_by_a_living_key BEFORE INSERT OR UPDATE OF secret_mac ON public.api_keys FOR EACH ROW EXECUTE FUNCTION refuse_retired_mac();
alter table api_keys enable row level security;
alter table api_keys force row level security;
create policy tenant_rows on api_keys for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on api_keys to patchbay_app;

create table api_tools (
    tenant_id uuid not null,
    connector_id uuid not null,
    key text not null,
    endpoint jsonb,
    filter text not null default ''::text,
    max_pages integer not null default 0,
    created_at timestamp with time zone not null default now(),
    annotations jsonb,
    scopes text[] not null default '{}'::text[],
    name text not null default ''::text,
    constraint api_tools_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint api_tools_filter_length CHECK ((length(filter) <= 4096)),
    constraint api_tools_key_length CHECK (((length(key) >= 1) AND (length(key) <= 4096))),
    constraint api_tools_max_pages_bounds CHECK (((max_pages >= 0) AND (max_pages <= 20))),
    constraint api_tools_name_length CHECK ((length(name) <= 128)) NOT VALID,
    constraint api_tools_pkey PRIMARY KEY (tenant_id, connector_id, key)
);
alter table api_tools enable row level security;
alter table api_tools force row level security;
create policy tenant_rows on api_tools for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on api_tools to patchbay_app;

create table approval_results (
    tenant_id uuid not null,
    id uuid not null,
    sealed bytea not null,
    constraint approval_results_approval_fkey FOREIGN KEY (tenant_id, id) REFERENCES approvals(tenant_id, id) ON DELETE CASCADE,
    constraint approval_results_pkey PRIMARY KEY (tenant_id, id)
);
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.approval_results FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table approval_results enable row level security;
alter table approval_results force row level security;
create policy tenant_rows on approval_results for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on approval_results to patchbay_app;

create table approvals (
    tenant_id uuid not null,
    id uuid not null,
    agent_id uuid not null,
    connector_id uuid not null,
    tool text not null,
    exposed_name text not null,
    definition_hash bytea not null,
    call_hash bytea not null,
    sealed bytea not null,
    state text not null default 'waiting'::text,
    asked_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null,
    decided_at timestamp with time zone,
    decided_by text not null default ''::text,
    reason text not null default ''::text,
    instance_id uuid,
    fetched_at timestamp with time zone,
    kind text not null default 'tool'::text,
    caller_id uuid,
    account_id uuid,
    sealed_account_id uuid,
    constraint approvals_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint approvals_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint approvals_decided CHECK (((state = ANY (ARRAY['waiting'::text, 'lapsed'::text])) = (decided_at IS NULL))),
    constraint approvals_executing_has_owner CHECK (((state <> 'executing'::text) OR (instance_id IS NOT NULL))),
    constraint approvals_kind_known CHECK ((kind = ANY (ARRAY['tool'::text, 'prompt'::text, 'resource'::text]))) NOT VALID,
    constraint approvals_pkey PRIMARY KEY (tenant_id, id),
    constraint approvals_state_known CHECK ((state = ANY (ARRAY['waiting'::text, 'approved'::text, 'denied'::text, 'lapsed'::text, 'executing'::text, 'done'::text, 'unknown'::text])))
);
CREATE INDEX approvals_agent_idx ON public.approvals USING btree (tenant_id, agent_id);
CREATE INDEX approvals_connector_idx ON public.approvals USING btree (tenant_id, connector_id);
CREATE INDEX approvals_open_idx ON public.approvals USING btree (tenant_id, id) WHERE (state = ANY (ARRAY['waiting'::text, 'approved'::text, 'executing'::text]));
CREATE UNIQUE INDEX approvals_same_call_key ON public.approvals USING btree (tenant_id, call_hash) WHERE ((state = ANY (ARRAY['waiting'::text, 'approved'::text, 'executing'::text])) OR ((state = 'done'::text) AND (fetched_at IS NULL)));
CREATE TRIGGER say_approval_change AFTER INSERT OR UPDATE OF state ON public.approvals FOR EACH ROW EXECUTE FUNCTION say_change('approval', 'tenant_id', 'id');
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.approvals FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table approvals enable row level security;
alter table approvals force row level security;
create policy tenant_rows on approvals for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on approvals to patchbay_app;

create table audit_chain (
    tenant_id uuid not null,
    n bigint not null,
    event_id uuid not null,
    hash bytea not null,
    constraint audit_chain_event_key UNIQUE (tenant_id, event_id),
    constraint audit_chain_hash_length CHECK ((length(hash) = 32)),
    constraint audit_chain_n_positive CHECK ((n > 0)),
    constraint audit_chain_pkey PRIMARY KEY (tenant_id, n),
    constraint audit_chain_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table audit_chain enable row level security;
alter table audit_chain force row level security;
create policy tenant_rows on audit_chain for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant select on audit_chain to patchbay_app;

create table audit_events (
    tenant_id uuid not null,
    id uuid not null,
    at timestamp with time zone not null default now(),
    actor_type text not null,
    actor_id uuid,
    actor_name text not null,
    action text not null,
    target text not null,
    detail jsonb not null default '{}'::jsonb,
    request_id text not null default ''::text,
    ip text not null default ''::text,
    constraint audit_chained TRIGGER DEFERRABLE INITIALLY DEFERRED,
    constraint audit_events_pkey PRIMARY KEY (tenant_id, id),
    constraint audit_events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE CONSTRAINT TRIGGER audit_chained AFTER INSERT ON public.audit_events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit_append();
alter table audit_events enable row level security;
alter table audit_events force row level security;
create policy tenant_rows on audit_events for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant insert, select on audit_events to patchbay_app;

create table audit_events_default (
    tenant_id uuid not null,
    id uuid not null,
    at timestamp with time zone not null default now(),
    actor_type text not null,
    actor_id uuid,
    actor_name text not null,
    action text not null,
    target text not null,
    detail jsonb not null default '{}'::jsonb,
    request_id text not null default ''::text,
    ip text not null default ''::text,
    constraint audit_chained TRIGGER DEFERRABLE INITIALLY DEFERRED,
    constraint audit_events_default_pkey PRIMARY KEY (tenant_id, id),
    constraint audit_events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE CONSTRAINT TRIGGER audit_chained AFTER INSERT ON public.audit_events_default DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit_append();
alter table audit_events_default enable row level security;
alter table audit_events_default force row level security;
create policy tenant_rows on audit_events_default for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant  on audit_events_default to patchbay_app;

create table audit_events_first (
    tenant_id uuid not null,
    id uuid not null,
    at timestamp with time zone not null default now(),
    actor_type text not null,
    actor_id uuid,
    actor_name text not null,
    action text not null,
    target text not null,
    detail jsonb not null default '{}'::jsonb,
    request_id text not null default ''::text,
    ip text not null default ''::text,
    constraint audit_chained TRIGGER DEFERRABLE INITIALLY DEFERRED,
    constraint audit_events_first_pkey PRIMARY KEY (tenant_id, id),
    constraint audit_events_first_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE CONSTRAINT TRIGGER audit_chained AFTER INSERT ON public.audit_events_first DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit_append();
alter table audit_events_first enable row level security;
alter table audit_events_first force row level security;
create policy tenant_rows on audit_events_first for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant  on audit_events_first to patchbay_app;

create table audit_heads (
    tenant_id uuid not null,
    events bigint not null,
    hash bytea not null,
    checked_at timestamp with time zone,
    checked_events bigint,
    checked_bad bigint,
    checked_reason text,
    checked_event uuid,
    checked_last uuid,
    constraint audit_heads_hash_length CHECK ((length(hash) = 32)),
    constraint audit_heads_pkey PRIMARY KEY (tenant_id),
    constraint audit_heads_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table audit_heads enable row level security;
alter table audit_heads force row level security;
create policy tenant_rows on audit_heads for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant select on audit_heads to patchbay_app;

create table audit_months (
    name text not null,
    starts timestamp with time zone,
    ends timestamp with time zone not null,
    constraint audit_months_pkey PRIMARY KEY (name),
    constraint audit_months_whole CHECK ((starts < ends))
);
grant select on audit_months to patchbay_app;

create table audit_streams (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    kind text not null,
    url text not null,
    format text not null,
    header text not null default ''::text,
    ca text not null default ''::text,
    origin text not null,
    sealed bytea,
    enabled boolean not null default true,
    disabled_why text not null default ''::text,
    audit_n bigint not null,
    audit_hash bytea not null,
    calls_n bigint not null,
    calls_hash bytea not null,
    calls_record bigint not null,
    lease uuid,
    leased_until timestamp with time zone,
    next_at timestamp with time zone not null default now(),
    failures integer not null default 0,
    refusals integer not null default 0,
    failing_since timestamp with time zone,
    last_error text not null default ''::text,
    delivered_at timestamp with time zone,
    gap text not null default ''::text,
    gap_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint audit_streams_disabled_why_known CHECK ((disabled_why = ANY (ARRAY[''::text, 'gone'::text, 'refused'::text]))),
    constraint audit_streams_format_known CHECK ((format = ANY (ARRAY['ndjson'::text, 'json'::text, 'syslog'::text]))),
    constraint audit_streams_hash_length CHECK (((octet_length(audit_hash) = 32) AND (octet_length(calls_hash) = 32))),
    constraint audit_streams_kind_known CHECK ((kind = ANY (ARRAY['https'::text, 'syslog'::text]))),
    constraint audit_streams_leased CHECK (((lease IS NULL) = (leased_until IS NULL))),
    constraint audit_streams_lengths CHECK ((((length(url) >= 1) AND (length(url) <= 2048)) AND (length(header) <= 100) AND (length(ca) <= 65536))),
    constraint audit_streams_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    constraint audit_streams_pkey PRIMARY KEY (tenant_id, id),
    constraint audit_streams_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX audit_streams_due_idx ON public.audit_streams USING btree (next_at) WHERE enabled;
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.audit_streams FOR EACH ROW WHEN ((new.sealed IS NOT NULL)) EXECUTE FUNCTION refuse_retired_key();
alter table audit_streams enable row level security;
alter table audit_streams force row level security;
create policy tenant_rows on audit_streams for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on audit_streams to patchbay_app;

create table browser_sessions (
    id uuid not null,
    user_id uuid not null,
    user_agent text not null default ''::text,
    address text not null default ''::text,
    began_at timestamp with time zone not null,
    seen_at timestamp with time zone not null,
    sso_tenant_id uuid,
    second_factor boolean not null default false,
    confirmed_at timestamp with time zone,
    opened_at timestamp with time zone not null default clock_timestamp(),
    constraint browser_sessions_address_length CHECK ((length(address) <= 400)),
    constraint browser_sessions_pkey PRIMARY KEY (id),
    constraint browser_sessions_sso_tenant_id_fkey FOREIGN KEY (sso_tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint browser_sessions_user_agent_length CHECK ((length(user_agent) <= 400)),
    constraint browser_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX browser_sessions_began_at_idx ON public.browser_sessions USING btree (began_at);
CREATE INDEX browser_sessions_sso_idx ON public.browser_sessions USING btree (sso_tenant_id) WHERE (sso_tenant_id IS NOT NULL);
CREATE INDEX browser_sessions_user_id_idx ON public.browser_sessions USING btree (user_id);
alter table browser_sessions enable row level security;
alter table browser_sessions force row level security;
create policy member_rows on browser_sessions for all using ((( SELECT system_scope() AS system_scope) OR (user_id IN ( SELECT memberships.user_id
   FROM memberships)))) with check (( SELECT system_scope() AS system_scope));
grant delete, insert, select, update on browser_sessions to patchbay_app;

create table call_hours (
    tenant_id uuid not null,
    hour timestamp with time zone not null,
    bucket smallint not null,
    ok integer not null,
    failed integer not null,
    other integer not null,
    constraint call_hours_bucket_known CHECK (((bucket >= '-1'::integer) AND (bucket <= 80))),
    constraint call_hours_pkey PRIMARY KEY (tenant_id, hour, bucket),
    constraint call_hours_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX call_hours_age_idx ON public.call_hours USING btree (hour);
alter table call_hours enable row level security;
alter table call_hours force row level security;
create policy tenant_rows on call_hours for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on call_hours to patchbay_app;

create table call_outcome_heads (
    tenant_id uuid not null,
    places bigint not null default 0,
    calls bigint not null default 0,
    hash bytea not null default decode(repeat('00'::text, 32), 'hex'::text),
    at timestamp with time zone not null default now(),
    checked_at timestamp with time zone,
    checked_calls bigint,
    checked_bad bigint,
    checked_reason text,
    checked_call uuid,
    records bigint not null default 0,
    constraint call_outcome_heads_hash_length CHECK ((length(hash) = 32)),
    constraint call_outcome_heads_pkey PRIMARY KEY (tenant_id),
    constraint call_outcome_heads_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=50);
alter table call_outcome_heads enable row level security;
alter table call_outcome_heads force row level security;
create policy tenant_rows on call_outcome_heads for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant select on call_outcome_heads to patchbay_app;

create table call_outcomes (
    tenant_id uuid not null,
    n bigint not null,
    at timestamp with time zone not null,
    kind text not null,
    calls bigint not null,
    body bytea not null,
    hash bytea not null,
    records_before bigint,
    constraint call_outcomes_hash_length CHECK ((length(hash) = 32)),
    constraint call_outcomes_kind_known CHECK ((kind = ANY (ARRAY['ended'::text, 'changed'::text, 'removed'::text]))),
    constraint call_outcomes_n_positive CHECK ((n > 0)),
    constraint call_outcomes_pkey PRIMARY KEY (tenant_id, n, at),
    constraint call_outcomes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table call_outcomes enable row level security;
alter table call_outcomes force row level security;
create policy tenant_rows on call_outcomes for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant select on call_outcomes to patchbay_app;

create table call_outcomes_default (
    tenant_id uuid not null,
    n bigint not null,
    at timestamp with time zone not null,
    kind text not null,
    calls bigint not null,
    body bytea not null,
    hash bytea not null,
    records_before bigint,
    constraint call_outcomes_default_pkey PRIMARY KEY (tenant_id, n, at),
    constraint call_outcomes_hash_length CHECK ((length(hash) = 32)),
    constraint call_outcomes_kind_known CHECK ((kind = ANY (ARRAY['ended'::text, 'changed'::text, 'removed'::text]))),
    constraint call_outcomes_n_positive CHECK ((n > 0)),
    constraint call_outcomes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table call_outcomes_default enable row level security;
alter table call_outcomes_default force row level security;
create policy tenant_rows on call_outcomes_default for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant  on call_outcomes_default to patchbay_app;

create table call_outcomes_first (
    tenant_id uuid not null,
    n bigint not null,
    at timestamp with time zone not null,
    kind text not null,
    calls bigint not null,
    body bytea not null,
    hash bytea not null,
    records_before bigint,
    constraint call_outcomes_first_pkey PRIMARY KEY (tenant_id, n, at),
    constraint call_outcomes_hash_length CHECK ((length(hash) = 32)),
    constraint call_outcomes_kind_known CHECK ((kind = ANY (ARRAY['ended'::text, 'changed'::text, 'removed'::text]))),
    constraint call_outcomes_n_positive CHECK ((n > 0)),
    constraint call_outcomes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table call_outcomes_first enable row level security;
alter table call_outcomes_first force row level security;
create policy tenant_rows on call_outcomes_first for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant  on call_outcomes_first to patchbay_app;

create table client_registrations (
    tenant_id uuid not null,
    issuer text not null,
    redirect_uri text not null,
    client_id text not null,
    source text not null,
    auth_method text not null default ''::text,
    sealed bytea,
    created_at timestamp with time zone not null default now(),
    secret_expires_at timestamp with time zone,
    constraint client_registrations_client_given CHECK ((client_id <> ''::text)),
    constraint client_registrations_pkey PRIMARY KEY (tenant_id, issuer, redirect_uri),
    constraint client_registrations_source_known CHECK ((source = ANY (ARRAY['configured'::text, 'metadata_document'::text, 'dynamic'::text]))),
    constraint client_registrations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.client_registrations FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table client_registrations enable row level security;
alter table client_registrations force row level security;
create policy tenant_rows on client_registrations for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on client_registrations to patchbay_app;

create table clock_turn (
    one boolean not null default true,
    at timestamp with time zone not null default '-infinity'::timestamp with time zone,
    constraint clock_turn_one CHECK (one),
    constraint clock_turn_pkey PRIMARY KEY (one)
);
grant select, update on clock_turn to patchbay_app;

create table connect_links (
    tenant_id uuid not null,
    token_hash bytea not null,
    connector_id uuid not null,
    agent_id uuid,
    made_by jsonb not null,
    return_to text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null,
    account text not null default ''::text,
    account_id uuid,
    constraint connect_links_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint connect_links_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint connect_links_pkey PRIMARY KEY (tenant_id, token_hash),
    constraint connect_links_token_hash_key UNIQUE (token_hash),
    constraint connect_links_token_hash_length CHECK ((length(token_hash) = 32))
);
CREATE INDEX connect_links_agent_idx ON public.connect_links USING btree (tenant_id, agent_id) WHERE (agent_id IS NOT NULL);
CREATE INDEX connect_links_connector_idx ON public.connect_links USING btree (tenant_id, connector_id);
alter table connect_links enable row level security;
alter table connect_links force row level security;
create policy tenant_rows on connect_links for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on connect_links to patchbay_app;

create table connector_clients (
    tenant_id uuid not null,
    connector_id uuid not null,
    client_id text not null,
    origin text not null,
    issuer text not null default ''::text,
    sealed bytea not null,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint connector_clients_client_given CHECK ((client_id <> ''::text)),
    constraint connector_clients_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint connector_clients_origin_given CHECK ((origin <> ''::text)),
    constraint connector_clients_pkey PRIMARY KEY (tenant_id, connector_id)
);
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.connector_clients FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table connector_clients enable row level security;
alter table connector_clients force row level security;
create policy tenant_rows on connector_clients for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on connector_clients to patchbay_app;

create table connector_clock (
    tenant_id uuid not null,
    connector_id uuid not null,
    shard smallint not null generated always as ((get_byte(uuid_send(tenant_id), 15) % 16)) stored,
    failures integer not null default 0,
    failing_since timestamp with time zone,
    run_id uuid,
    hour timestamp with time zone not null default '-infinity'::timestamp with time zone,
    due_at timestamp with time zone,
    claimed_by uuid,
    claimed_at timestamp with time zone,
    checked_at timestamp with time zone,
    ok_at timestamp with time zone,
    checks integer not null default 0,
    hour_ok integer not null default 0,
    hour_failed integer not null default 0,
    hour_ms bigint not null default 0,
    hour_max_ms bigint not null default 0,
    known_until timestamp with time zone,
    vanished_at timestamp with time zone,
    vanished_tools integer,
    vanished_of integer,
    constraint connector_clock_claim_whole CHECK (((claimed_by IS NULL) = (claimed_at IS NULL))),
    constraint connector_clock_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint connector_clock_failing_whole CHECK (((failures = 0) = (failing_since IS NULL))),
    constraint connector_clock_pkey PRIMARY KEY (tenant_id, connector_id),
    constraint connector_clock_vanished_whole CHECK ((((vanished_at IS NULL) = (vanished_tools IS NULL)) AND ((vanished_at IS NULL) = (vanished_of IS NULL)))) NOT VALID
) with (fillfactor=75);
CREATE INDEX connector_clock_due_idx ON public.connector_clock USING btree (shard, due_at);
CREATE TRIGGER keep_hour AFTER UPDATE OF hour ON public.connector_clock FOR EACH ROW WHEN (((new.hour > old.hour) AND ((old.hour_ok + old.hour_failed) > 0))) EXECUTE FUNCTION keep_hour();
alter table connector_clock enable row level security;
alter table connector_clock force row level security;
create policy tenant_rows on connector_clock for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on connector_clock to patchbay_app;

create table connector_envs (
    tenant_id uuid not null,
    connector_id uuid not null,
    program text not null,
    names text[] not null,
    sealed bytea not null,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint connector_envs_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint connector_envs_pkey PRIMARY KEY (tenant_id, connector_id),
    constraint connector_envs_program_given CHECK ((program <> ''::text))
);
CREATE TRIGGER resume_clock AFTER INSERT OR UPDATE ON public.connector_envs FOR EACH ROW EXECUTE FUNCTION resume_clock();
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.connector_envs FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table connector_envs enable row level security;
alter table connector_envs force row level security;
create policy tenant_rows on connector_envs for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on connector_envs to patchbay_app;

create table connector_health (
    tenant_id uuid not null,
    connector_id uuid not null,
    hour timestamp with time zone not null,
    ok integer not null,
    failed integer not null,
    ms_sum bigint not null,
    ms_max bigint not null,
    rolled boolean not null default false,
    constraint connector_health_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint connector_health_pkey PRIMARY KEY (tenant_id, connector_id, hour)
);
CREATE INDEX connector_health_unrolled_idx ON public.connector_health USING btree (tenant_id, hour) WHERE (NOT rolled);
alter table connector_health enable row level security;
alter table connector_health force row level security;
create policy tenant_rows on connector_health for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on connector_health to patchbay_app;

create table connector_icons (
    tenant_id uuid not null,
    connector_id uuid not null,
    media_type text not null,
    picture bytea not null,
    constraint connector_icons_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint connector_icons_media_type_known CHECK ((media_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/webp'::text]))),
    constraint connector_icons_pkey PRIMARY KEY (tenant_id, connector_id),
    constraint connector_icons_size CHECK (((length(picture) >= 1) AND (length(picture) <= 16384)))
);
alter table connector_icons enable row level security;
alter table connector_icons force row level security;
create policy tenant_rows on connector_icons for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on connector_icons to patchbay_app;

create table connector_items (
    tenant_id uuid not null,
    connector_id uuid not null,
    kind text not null,
    "position" integer not null,
    key text not null,
    raw bytea not null,
    first_seen_at timestamp with time zone not null default now(),
    changed_at timestamp with time zone not null default now(),
    constraint connector_items_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint connector_items_kind_known CHECK ((kind = ANY (ARRAY['prompt'::text, 'resource'::text, 'template'::text]))),
    constraint connector_items_pkey PRIMARY KEY (tenant_id, connector_id, kind, "position")
);
alter table connector_items enable row level security;
alter table connector_items force row level security;
create policy tenant_rows on connector_items for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on connector_items to patchbay_app;

create table connectors (
    tenant_id uuid not null,
    id uuid not null,
    slug text not null,
    name text not null,
    description text not null default ''::text,
    transport text not null,
    url text not null default ''::text,
    headers jsonb not null default '{}'::jsonb,
    credential_mode text not null,
    auth_type text not null,
    auth_header text not null default ''::text,
    timeout_ms integer not null,
    retry_attempts integer not null,
    enabled boolean not null,
    sync_interval_s integer not null,
    tool_changes text not null,
    version integer not null default 1,
    auth_behaviour text not null default 'unknown'::text,
    tool_count integer not null default 0,
    tools_hash bytea,
    tools_last_synced_at timestamp with time zone,
    next_sync_at timestamp with time zone,
    last_error_code text,
    last_error_message text,
    last_error_at timestamp with time zone,
    server_name text not null default ''::text,
    server_version text not null default ''::text,
    server_title text not null default ''::text,
    server_protocol text not null default ''::text,
    server_instructions text not null default ''::text,
    status text not null generated always as (
CASE
    WHEN (NOT enabled) THEN 'disabled'::text
    WHEN (last_error_code = ANY (ARRAY['unauthorized'::text, 'credential_required'::text])) THEN 'needs_auth'::text
    WHEN (last_error_code IS NOT NULL) THEN 'error'::text
    WHEN (tools_last_synced_at IS NULL) THEN 'never_synced'::text
    ELSE 'ok'::text
END) stored,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    oauth jsonb not null default '{}'::jsonb,
    command text not null default ''::text,
    args text[] not null default '{}'::text[],
    cwd text not null default ''::text,
    era text not null default ''::text,
    calls_per_minute integer not null default 0,
    server_capabilities bytea,
    items_hash bytea,
    max_definition_age_s integer not null default 900,
    listen text not null default 'auto'::text,
    accepted_instructions text,
    instructions_review text not null default 'accepted'::text,
    session_per_agent boolean not null default true,
    retry_backoff_ms integer not null default 250,
    connect_timeout_ms integer not null default 10000,
    max_response_bytes integer not null default 8388608,
    stream_reconnects integer not null default 5,
    methods text[] not null default '{}'::text[],
    icon_hash bytea,
    tags text[] not null default '{}'::text[],
    auth_in text not null default ''::text,
    server_url text not null default ''::text,
    skills_hash bytea,
    managed_issuer text not null default ''::text,
    constraint connectors_args_number CHECK ((cardinality(args) <= 100)),
    constraint connectors_auth_behaviour_known CHECK ((auth_behaviour = ANY (ARRAY['unknown'::text, 'open'::text, 'list_open'::text, 'all_auth'::text]))),
    constraint connectors_auth_in_known CHECK ((auth_in = ANY (ARRAY[''::text, 'query'::text, 'cookie'::text]))) NOT VALID,
    constraint connectors_auth_type_known CHECK ((auth_type = ANY (ARRAY['none'::text, 'bearer'::text, 'api_key'::text, 'basic'::text, 'oauth2'::text, 'client_credentials'::text, 'private_key_jwt'::text]))),
    constraint connectors_calls_per_minute_range CHECK (((calls_per_minute >= 0) AND (calls_per_minute <= 1000000))),
    constraint connectors_command_absolute CHECK (((command = ''::text) OR (command ~~ '/%'::text))),
    constraint connectors_command_fits CHECK (((transport = 'stdio'::text) = (command <> ''::text))),
    constraint connectors_connect_timeout_ms_check CHECK (((connect_timeout_ms >= 100) AND (connect_timeout_ms <= 60000))),
    constraint connectors_credential_mode_known CHECK ((credential_mode = ANY (ARRAY['shared'::text, 'per_agent'::text]))),
    constraint connectors_definition_age_bounds CHECK (((max_definition_age_s = 0) OR ((max_definition_age_s >= 60) AND (max_definition_age_s <= 86400)))),
    constraint connectors_era_known CHECK ((era = ANY (ARRAY[''::text, 'modern'::text, 'handshake'::text, 'sse'::text]))),
    constraint connectors_error_whole CHECK ((((last_error_code IS NULL) = (last_error_message IS NULL)) AND ((last_error_code IS NULL) = (last_error_at IS NULL)))),
    constraint connectors_headers_object CHECK ((jsonb_typeof(headers) = 'object'::text)),
    constraint connectors_icon_hash_length CHECK ((length(icon_hash) = 32)) NOT VALID,
    constraint connectors_instructions_held CHECK (((instructions_review = 'accepted'::text) = (accepted_instructions IS NULL))),
    constraint connectors_instructions_review_known CHECK ((instructions_review = ANY (ARRAY['accepted'::text, 'changed'::text, 'rejected'::text]))),
    constraint connectors_interval_range CHECK (((sync_interval_s = 0) OR (sync_interval_s >= 60))),
    constraint connectors_items_hash_length CHECK ((length(items_hash) = 32)),
    constraint connectors_listen_known CHECK ((listen = ANY (ARRAY['auto'::text, 'off'::text]))),
    constraint connectors_max_response_bytes_check CHECK (((max_response_bytes >= 65536) AND (max_response_bytes <= 8388608))),
    constraint connectors_methods_check CHECK ((cardinality(methods) <= 50)),
    constraint connectors_name_key UNIQUE (tenant_id, name),
    constraint connectors_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    constraint connectors_oauth_object CHECK ((jsonb_typeof(oauth) = 'object'::text)),
    constraint connectors_pkey PRIMARY KEY (tenant_id, id),
    constraint connectors_retry_backoff_ms_check CHECK (((retry_backoff_ms >= 50) AND (retry_backoff_ms <= 10000))),
    constraint connectors_retry_range CHECK (((retry_attempts >= 0) AND (retry_attempts <= 5))),
    constraint connectors_skills_hash_length CHECK ((length(skills_hash) = 32)) NOT VALID,
    constraint connectors_slug_form CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$'::text)),
    constraint connectors_slug_key UNIQUE (tenant_id, slug),
    constraint connectors_stdio_has_no_url CHECK (((transport <> 'stdio'::text) OR (url = ''::text))),
    constraint connectors_stream_reconnects_check CHECK (((stream_reconnects >= 0) AND (stream_reconnects <= 100))),
    constraint connectors_tags_few CHECK ((cardinality(tags) <= 20)) NOT VALID,
    constraint connectors_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint connectors_timeout_range CHECK (((timeout_ms >= 1000) AND (timeout_ms <= 300000))),
    constraint connectors_tool_changes_known CHECK ((tool_changes = ANY (ARRAY['auto'::text, 'hold_risky'::text, 'hold_all'::text]))),
    constraint connectors_tools_hash_length CHECK ((length(tools_hash) = 32)),
    constraint connectors_transport_known CHECK ((transport = ANY (ARRAY['streamable_http'::text, 'sse'::text, 'http'::text, 'stdio'::text, 'api'::text]))) NOT VALID,
    constraint connectors_url_length CHECK ((length(url) <= 2048))
) with (fillfactor=80);
CREATE INDEX connectors_page_idx ON public.connectors USING btree (tenant_id, lower(name), id);
CREATE TRIGGER delete_credentials_of_connector BEFORE DELETE ON public.connectors FOR EACH ROW EXECUTE FUNCTION delete_credentials_of_connector();
CREATE TRIGGER leave_calls AFTER DELETE ON public.connectors REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION leave_calls();
CREATE TRIGGER leave_changes AFTER DELETE ON public.connectors REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION leave_definitions();
CREATE TRIGGER say_connector_change AFTER UPDATE ON public.connectors FOR EACH ROW WHEN ((((((((((((((((((((((old.slug IS DISTINCT FROM new.slug) OR (old.name IS DISTINCT FROM new.name)) OR (old.description IS DISTINCT FROM new.description)) OR (old.transport IS DISTINCT FROM new.transport)) OR (old.url IS DISTINCT FROM new.url)) OR (old.headers IS DISTINCT FROM new.headers)) OR (old.credential_mode IS DISTINCT FROM new.credential_mode)) OR (old.auth_type IS DISTINCT FROM new.auth_type)) OR (old.auth_header IS DISTINCT FROM new.auth_header)) OR (old.timeout_ms IS DISTINCT FROM new.timeout_ms)) OR (old.retry_attempts IS DISTINCT FROM new.retry_attempts)) OR (old.enabled IS DISTINCT FROM new.enabled)) OR (old.calls_per_minute IS DISTINCT FROM new.calls_per_minute)) OR (old.version IS DISTINCT FROM new.version)) OR (old.items_hash IS DISTINCT FROM new.items_hash)) OR (old.server_capabilities IS DISTINCT FROM new.server_capabilities)) OR (old.server_instructions IS DISTINCT FROM new.server_instructions)) OR (old.era IS DISTINCT FROM new.era)) OR (old.command IS DISTINCT FROM new.command)) OR (old.args IS DISTINCT FROM new.args)) OR (old.cwd IS DISTINCT FROM new.cwd))) EXECUTE FUNCTION say_change('connector', 'tenant_id', 'id');
CREATE TRIGGER say_connector_end AFTER DELETE ON public.connectors FOR EACH ROW EXECUTE FUNCTION say_change('connector', 'tenant_id', 'id');
CREATE TRIGGER say_instructions_change AFTER UPDATE OF accepted_instructions ON public.connectors FOR EACH ROW WHEN ((old.accepted_instructions IS DISTINCT FROM new.accepted_instructions)) EXECUTE FUNCTION say_change('connector', 'tenant_id', 'id');
CREATE TRIGGER set_clock AFTER UPDATE OF version ON public.connectors FOR EACH ROW WHEN ((new.version <> old.version)) EXECUTE FUNCTION set_clock();
CREATE TRIGGER set_new_clock AFTER INSERT ON public.connectors FOR EACH ROW EXECUTE FUNCTION set_clock();
alter table connectors enable row level security;
alter table connectors force row level security;
create policy tenant_rows on connectors for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on connectors to patchbay_app;

create table credentials (
    tenant_id uuid not null,
    id uuid not null,
    connector_id uuid not null,
    agent_id uuid,
    type text not null,
    origin text not null,
    sealed bytea not null,
    status text not null default 'active'::text,
    account text not null default ''::text,
    scopes text[] not null default '{}'::text[],
    expires_at timestamp with time zone,
    refreshed_at timestamp with time zone,
    last_used_at timestamp with time zone,
    error text not null default ''::text,
    version integer not null default 1,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    grant_meta jsonb not null default '{}'::jsonb,
    lease_id uuid,
    lease_until timestamp with time zone,
    retry_at timestamp with time zone,
    connected_at timestamp with time zone,
    upstream jsonb,
    member_id uuid,
    name text not null default 'default'::text,
    syncs boolean not null default false,
    constraint credentials_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint credentials_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint credentials_grant_meta_object CHECK ((jsonb_typeof(grant_meta) = 'object'::text)),
    constraint credentials_lease_whole CHECK (((lease_id IS NULL) = (lease_until IS NULL))),
    constraint credentials_managed_per_agent CHECK (((member_id IS NULL) OR ((agent_id IS NOT NULL) AND (type = 'oauth2'::text)))) NOT VALID,
    constraint credentials_member_fkey FOREIGN KEY (tenant_id, member_id) REFERENCES memberships(tenant_id, user_id) ON DELETE CASCADE NOT VALID,
    constraint credentials_name_form CHECK ((name ~ '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$'::text)) NOT VALID,
    constraint credentials_origin_given CHECK ((origin <> ''::text)),
    constraint credentials_owner_key UNIQUE NULLS NOT DISTINCT (tenant_id, connector_id, agent_id, name),
    constraint credentials_pkey PRIMARY KEY (tenant_id, id),
    constraint credentials_status_known CHECK ((status = ANY (ARRAY['active'::text, 'expired'::text, 'refresh_failed'::text, 'revoked'::text]))),
    constraint credentials_type_known CHECK ((type = ANY (ARRAY['bearer'::text, 'api_key'::text, 'basic'::text, 'oauth2'::text, 'client_credentials'::text, 'private_key_jwt'::text]))),
    constraint credentials_upstream_short CHECK ((octet_length((upstream ->> 'said'::text)) <= 2048)) NOT VALID,
    constraint credentials_version_positive CHECK ((version > 0))
);
CREATE INDEX credentials_agent_idx ON public.credentials USING btree (tenant_id, agent_id);
CREATE INDEX credentials_expires_idx ON public.credentials USING btree (tenant_id, expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX credentials_idle_idx ON public.credentials USING btree (updated_at, id) WHERE ((type = 'oauth2'::text) AND (status = ANY (ARRAY['active'::text, 'refresh_failed'::text])));
CREATE INDEX credentials_member_idx ON public.credentials USING btree (tenant_id, member_id) WHERE (member_id IS NOT NULL);
CREATE UNIQUE INDEX credentials_syncs_key ON public.credentials USING btree (tenant_id, connector_id, ((agent_id IS NULL))) WHERE syncs;
CREATE TRIGGER check_account_name BEFORE INSERT OR UPDATE OF name ON public.credentials FOR EACH ROW EXECUTE FUNCTION check_account_name();
CREATE TRIGGER end_allowances AFTER DELETE OR UPDATE OF id ON public.credentials FOR EACH ROW EXECUTE FUNCTION end_allowances_of_account();
CREATE TRIGGER queue_revocation BEFORE DELETE ON public.credentials FOR EACH ROW WHEN (((old.type = 'oauth2'::text) AND (old.status <> 'revoked'::text))) EXECUTE FUNCTION queue_revocation();
CREATE TRIGGER queue_revocation_of_replaced BEFORE UPDATE ON public.credentials FOR EACH ROW WHEN (((old.type = 'oauth2'::text) AND (old.status <> 'revoked'::text) AND ((new.type <> 'oauth2'::text) OR ((new.id <> old.id) AND ((old.grant_meta #>> '{identity,subject}'::text[]) IS NOT NULL)) OR (new.account IS DISTINCT FROM old.account) OR ((new.grant_meta #>> '{identity,subject}'::text[]) <> (old.grant_meta #>> '{identity,subject}'::text[])) OR ((new.grant_meta ->> 'client_id'::text) IS DISTINCT FROM (old.grant_meta ->> 'client_id'::text)) OR ((new.grant_meta #>> '{server,issuer}'::text[]) IS DISTINCT FROM (old.grant_meta #>> '{server,issuer}'::text[])) OR (((old.grant_meta -> 'exchange'::text) IS NOT NULL) AND ((new.grant_meta -> 'exchange'::text) IS NULL))))) EXECUTE FUNCTION queue_revocation();
CREATE TRIGGER resume_clock AFTER INSERT OR UPDATE OF version ON public.credentials FOR EACH ROW WHEN ((new.status = 'active'::text)) EXECUTE FUNCTION resume_clock();
CREATE TRIGGER say_account_change AFTER INSERT OR DELETE OR UPDATE OF id, name ON public.credentials FOR EACH ROW EXECUTE FUNCTION say_account_change();
CREATE TRIGGER say_credential_change AFTER INSERT OR DELETE OR UPDATE OF sealed, status, version, origin, type ON public.credentials FOR EACH ROW EXECUTE FUNCTION say_change('credential', 'tenant_id', 'connector_id');
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.credentials FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table credentials enable row level security;
alter table credentials force row level security;
create policy tenant_rows on credentials for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on credentials to patchbay_app;

create table gateway_mail (
    tenant_id uuid not null,
    id uuid not null,
    agent_id uuid not null,
    box text not null,
    sealed bytea not null,
    expires_at timestamp with time zone not null,
    connector_id uuid,
    constraint gateway_mail_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint gateway_mail_grant_fkey FOREIGN KEY (tenant_id, agent_id, connector_id) REFERENCES agent_grants(tenant_id, agent_id, connector_id) ON DELETE CASCADE,
    constraint gateway_mail_pkey PRIMARY KEY (tenant_id, id),
    constraint gateway_mail_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX gateway_mail_agent_idx ON public.gateway_mail USING btree (tenant_id, agent_id);
CREATE INDEX gateway_mail_box_idx ON public.gateway_mail USING btree (tenant_id, box, id);
CREATE INDEX gateway_mail_expiry_idx ON public.gateway_mail USING btree (expires_at);
CREATE INDEX gateway_mail_kept_idx ON public.gateway_mail USING btree (tenant_id, agent_id, connector_id) WHERE (connector_id IS NOT NULL);
CREATE TRIGGER say_mail AFTER INSERT ON public.gateway_mail FOR EACH ROW WHEN ((new.box !~~ 'result-%'::text)) EXECUTE FUNCTION say_change('mail', 'tenant_id', 'box');
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.gateway_mail FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table gateway_mail enable row level security;
alter table gateway_mail force row level security;
create policy tenant_rows on gateway_mail for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on gateway_mail to patchbay_app;

create table instances (
    id uuid not null,
    started_at timestamp with time zone not null default now(),
    beat_at timestamp with time zone not null default now(),
    keyset_generation integer not null default 0,
    steady_since timestamp with time zone not null default pg_postmaster_start_time(),
    tenant_keys boolean not null default false,
    kek bytea,
    user_passwords boolean not null default false,
    account_names boolean not null default false,
    token_exchange boolean not null default false,
    constraint instances_pkey PRIMARY KEY (id)
);
CREATE TRIGGER hide_password_hashes AFTER DELETE ON public.instances FOR EACH STATEMENT EXECUTE FUNCTION hide_password_hashes();
CREATE TRIGGER show_password_hashes AFTER INSERT OR UPDATE ON public.instances FOR EACH ROW WHEN ((NOT new.user_passwords)) EXECUTE FUNCTION show_password_hashes();
grant delete, insert, select, update on instances to patchbay_app;

create table invitations (
    tenant_id uuid not null,
    id uuid not null,
    email text not null,
    role text not null,
    token_hash bytea not null,
    invited_by uuid,
    invited_by_name text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    sent_at timestamp with time zone not null default now(),
    sends integer not null default 1,
    expires_at timestamp with time zone not null,
    accepted_at timestamp with time zone,
    revoked_at timestamp with time zone,
    constraint invitations_email_form CHECK (((email = lower(email)) AND (email ~ '^[^@\s]+@[^@\s]+$'::text) AND (length(email) <= 254))),
    constraint invitations_one_end CHECK (((accepted_at IS NULL) OR (revoked_at IS NULL))),
    constraint invitations_pkey PRIMARY KEY (tenant_id, id),
    constraint invitations_role_known CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text, 'owner'::text, 'auditor'::text]))),
    constraint invitations_sends_positive CHECK ((sends > 0)),
    constraint invitations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint invitations_token_hash_key UNIQUE (token_hash),
    constraint invitations_token_hash_length CHECK ((length(token_hash) = 32))
);
CREATE UNIQUE INDEX invitations_open_key ON public.invitations USING btree (tenant_id, email) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));
alter table invitations enable row level security;
alter table invitations force row level security;
create policy tenant_rows on invitations for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on invitations to patchbay_app;

create table keysets (
    purpose text not null,
    wrapped bytea not null,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    generation integer not null default 1,
    per_tenant boolean not null default false,
    moving bytea,
    version integer not null default 1,
    constraint keysets_generation_positive CHECK ((generation > 0)),
    constraint keysets_pkey PRIMARY KEY (purpose),
    constraint keysets_purpose_known CHECK ((purpose = ANY (ARRAY['seal'::text, 'mac'::text]))),
    constraint keysets_version_positive CHECK ((version > 0))
);
CREATE TRIGGER both_copies_are_one BEFORE UPDATE ON public.keysets FOR EACH ROW EXECUTE FUNCTION keep_both_copies();
alter table keysets enable row level security;
alter table keysets force row level security;
create policy system_rows on keysets for all using (( SELECT system_scope() AS system_scope)) with check (( SELECT system_scope() AS system_scope));
grant delete, insert, select, update on keysets to patchbay_app;

create table kms_keys (
    uri text not null,
    wrapped bytea not null,
    created_at timestamp with time zone not null default now(),
    constraint kms_keys_pkey PRIMARY KEY (uri),
    constraint kms_keys_uri_names_a_kms CHECK ((uri ~ '^(aws-kms|hcvault)://'::text))
);
alter table kms_keys enable row level security;
alter table kms_keys force row level security;
create policy system_rows on kms_keys for all using (( SELECT system_scope() AS system_scope)) with check (( SELECT system_scope() AS system_scope));
grant delete, insert, select on kms_keys to patchbay_app;

create table mcp_clients (
    id uuid not null,
    name text not null,
    redirect_uris text[] not null,
    address text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    used_on date,
    dpop_required boolean not null default false,
    constraint mcp_clients_address_length CHECK ((length(address) <= 100)),
    constraint mcp_clients_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    constraint mcp_clients_pkey PRIMARY KEY (id),
    constraint mcp_clients_redirect_uris_number CHECK (((cardinality(redirect_uris) >= 1) AND (cardinality(redirect_uris) <= 20)))
);
CREATE INDEX mcp_clients_address_idx ON public.mcp_clients USING btree (address, created_at);
CREATE INDEX mcp_clients_unused_idx ON public.mcp_clients USING btree (created_at) WHERE (used_on IS NULL);
alter table mcp_clients enable row level security;
alter table mcp_clients force row level security;
create policy system_rows on mcp_clients for all using (( SELECT system_scope() AS system_scope)) with check (( SELECT system_scope() AS system_scope));
grant delete, insert, select, update on mcp_clients to patchbay_app;

create table member_tokens (
    tenant_id uuid not null,
    id uuid not null,
    agent_client_id uuid not null,
    secret_mac bytea not null,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null,
    last_used_at timestamp with time zone,
    key_thumbprint text,
    constraint member_tokens_agent_client_fkey FOREIGN KEY (tenant_id, agent_client_id) REFERENCES agent_clients(tenant_id, id) ON DELETE CASCADE,
    constraint member_tokens_id_key UNIQUE (id),
    constraint member_tokens_key_thumbprint_length CHECK ((length(key_thumbprint) = 43)) NOT VALID,
    constraint member_tokens_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX member_tokens_agent_client_idx ON public.member_tokens USING btree (tenant_id, agent_client_id);
CREATE INDEX member_tokens_expires_idx ON public.member_tokens USING btree (tenant_id, expires_at);
CREATE TRIGGER recognised_by_a_living_key BEFORE INSERT OR UPDATE OF secret_mac ON public.member_tokens FOR EACH ROW EXECUTE FUNCTION refuse_retired_mac();
alter table member_tokens enable row level security;
alter table member_tokens force row level security;
create policy tenant_rows on member_tokens for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on member_tokens to patchbay_app;

create table memberships (
    tenant_id uuid not null,
    user_id uuid not null,
    role text not null,
    created_at timestamp with time zone not null default now(),
    seen_at timestamp with time zone,
    sso_only boolean not null default false,
    signed_out_at timestamp with time zone,
    mail text not null default 'none'::text,
    mail_language text not null default 'en'::text,
    mailed_at timestamp with time zone,
    constraint memberships_mail_known CHECK ((mail = ANY (ARRAY['none'::text, 'approvals'::text, 'all'::text]))) NOT VALID,
    constraint memberships_mail_language_form CHECK ((mail_language ~ '^[a-z]{2}$'::text)) NOT VALID,
    constraint memberships_pkey PRIMARY KEY (tenant_id, user_id),
    constraint memberships_role_known CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text, 'owner'::text, 'auditor'::text]))),
    constraint memberships_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX memberships_mail_idx ON public.memberships USING btree (tenant_id, user_id) WHERE (mail <> 'none'::text);
CREATE INDEX memberships_user_id_idx ON public.memberships USING btree (user_id);
CREATE TRIGGER one_address_once AFTER INSERT OR UPDATE OF tenant_id, user_id ON public.memberships FOR EACH ROW EXECUTE FUNCTION check_membership();
alter table memberships enable row level security;
alter table memberships force row level security;
create policy tenant_rows on memberships for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on memberships to patchbay_app;

create table notice_reads (
    tenant_id uuid not null,
    notice_id uuid not null,
    user_id uuid not null,
    read_at timestamp with time zone not null default now(),
    constraint notice_reads_member_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES memberships(tenant_id, user_id) ON DELETE CASCADE,
    constraint notice_reads_notice_fkey FOREIGN KEY (tenant_id, notice_id) REFERENCES notices(tenant_id, id) ON DELETE CASCADE,
    constraint notice_reads_pkey PRIMARY KEY (tenant_id, notice_id, user_id)
);
CREATE INDEX notice_reads_member_idx ON public.notice_reads USING btree (tenant_id, user_id);
alter table notice_reads enable row level security;
alter table notice_reads force row level security;
create policy tenant_rows on notice_reads for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on notice_reads to patchbay_app;

create table notices (
    tenant_id uuid not null,
    id uuid not null,
    at timestamp with time zone not null default now(),
    kind text not null,
    title text not null,
    body text not null default ''::text,
    link text not null default ''::text,
    subject_key text not null default ''::text,
    data jsonb not null default '{}'::jsonb,
    times integer not null default 1,
    upstream jsonb,
    constraint notices_kind_form CHECK ((kind ~ '^[a-z_]+(\.[a-z_]+)+$'::text)),
    constraint notices_link_is_a_path CHECK (((link = ''::text) OR ((link ~~ '/%'::text) AND (link !~~ '//%'::text) AND (link !~ '[\\[:space:]]'::text)))),
    constraint notices_pkey PRIMARY KEY (tenant_id, id),
    constraint notices_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint notices_upstream_short CHECK ((octet_length((upstream ->> 'said'::text)) <= 2048)) NOT VALID
);
CREATE INDEX notices_age_idx ON public.notices USING btree (at);
CREATE INDEX notices_subject_idx ON public.notices USING btree (tenant_id, subject_key, at DESC) WHERE (subject_key <> ''::text);
alter table notices enable row level security;
alter table notices force row level security;
create policy tenant_rows on notices for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on notices to patchbay_app;

create table oauth_flows (
    tenant_id uuid not null,
    id uuid not null,
    state_hash bytea not null,
    browser_hash bytea not null,
    connector_id uuid not null,
    agent_id uuid,
    started_by jsonb not null,
    origin text not null,
    metadata jsonb not null,
    client_id text not null,
    resource text not null default ''::text,
    scopes text[] not null default '{}'::text[],
    redirect_uri text not null,
    return_to text not null default ''::text,
    sealed bytea not null,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null default (now() + '00:10:00'::interval),
    replaces boolean not null default false,
    account text not null default ''::text,
    account_id uuid,
    constraint oauth_flows_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint oauth_flows_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint oauth_flows_origin_given CHECK ((origin <> ''::text)),
    constraint oauth_flows_pkey PRIMARY KEY (tenant_id, id),
    constraint oauth_flows_state_hash_key UNIQUE (state_hash),
    constraint oauth_flows_state_hash_length CHECK ((length(state_hash) = 32))
);
CREATE INDEX oauth_flows_agent_idx ON public.oauth_flows USING btree (tenant_id, agent_id) WHERE (agent_id IS NOT NULL);
CREATE INDEX oauth_flows_connector_idx ON public.oauth_flows USING btree (tenant_id, connector_id);
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.oauth_flows FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table oauth_flows enable row level security;
alter table oauth_flows force row level security;
create policy tenant_rows on oauth_flows for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on oauth_flows to patchbay_app;

create table password_resets (
    token_hash bytea not null,
    user_id uuid not null,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null,
    constraint password_resets_pkey PRIMARY KEY (token_hash),
    constraint password_resets_token_hash_length CHECK ((length(token_hash) = 32)),
    constraint password_resets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX password_resets_user_id_idx ON public.password_resets USING btree (user_id);
alter table password_resets enable row level security;
alter table password_resets force row level security;
create policy system_rows on password_resets for all using (( SELECT system_scope() AS system_scope)) with check (( SELECT system_scope() AS system_scope));
grant delete, insert, select, update on password_resets to patchbay_app;

create table personal_agents (
    tenant_id uuid not null,
    agent_id uuid not null,
    user_id uuid not null,
    created_at timestamp with time zone not null default now(),
    client_id text,
    disconnected uuid[] not null default '{}'::uuid[],
    constraint personal_agents_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint personal_agents_client_length CHECK (((length(client_id) >= 1) AND (length(client_id) <= 2048))) NOT VALID,
    constraint personal_agents_member_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES memberships(tenant_id, user_id) ON DELETE CASCADE,
    constraint personal_agents_pkey PRIMARY KEY (tenant_id, agent_id)
);
CREATE UNIQUE INDEX personal_agents_client_key ON public.personal_agents USING btree (tenant_id, user_id, md5(client_id)) WHERE (client_id IS NOT NULL);
CREATE INDEX personal_agents_member_idx ON public.personal_agents USING btree (tenant_id, user_id);
alter table personal_agents enable row level security;
alter table personal_agents force row level security;
create policy tenant_rows on personal_agents for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on personal_agents to patchbay_app;

create table quarantined_tools (
    tenant_id uuid not null,
    connector_id uuid not null,
    "position" integer not null,
    name text,
    reason text not null,
    raw bytea not null,
    constraint quarantined_tools_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint quarantined_tools_pkey PRIMARY KEY (tenant_id, connector_id, "position")
);
alter table quarantined_tools enable row level security;
alter table quarantined_tools force row level security;
create policy tenant_rows on quarantined_tools for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on quarantined_tools to patchbay_app;

create table quota_days (
    tenant_id uuid not null,
    day date not null,
    connector_id uuid not null,
    tool text not null,
    calls bigint not null,
    over_minute bigint not null,
    over_day bigint not null,
    constraint quota_days_pkey PRIMARY KEY (tenant_id, day, connector_id, tool),
    constraint quota_days_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX quota_days_age_idx ON public.quota_days USING btree (day);
alter table quota_days enable row level security;
alter table quota_days force row level security;
create policy tenant_rows on quota_days for all using (((tenant_id = tenant()) OR system_scope())) with check (((tenant_id = tenant()) OR system_scope()));
grant delete, insert, select, update on quota_days to patchbay_app;

create table recovery_codes (
    user_id uuid not null,
    number smallint not null,
    mac bytea not null,
    used_at timestamp with time zone,
    constraint recovery_codes_number_few CHECK (((number >= 1) AND (number <= 10))),
    constraint recovery_codes_pkey PRIMARY KEY (user_id, number),
    constraint recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES second_factors(user_id) ON DELETE CASCADE
);
CREATE TRIGGER recognised_by_a_living_key BEFORE INSERT OR UPDATE OF mac ON public.recovery_codes FOR EACH ROW EXECUTE FUNCTION refuse_retired_mac();
alter table recovery_codes enable row level security;
alter table recovery_codes force row level security;
create policy member_reads on recovery_codes for r using ((( SELECT system_scope() AS system_scope) OR (user_id IN ( SELECT memberships.user_id
   FROM memberships)))) with check ();
create policy system_adds on recovery_codes for a using () with check (( SELECT system_scope() AS system_scope));
create policy system_changes on recovery_codes for w using (( SELECT system_scope() AS system_scope)) with check (( SELECT system_scope() AS system_scope));
create policy system_removes on recovery_codes for d using (( SELECT system_scope() AS system_scope)) with check ();
grant delete, insert, select, update on recovery_codes to patchbay_app;

create table registries (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    address_hash bytea not null,
    every_connector boolean not null,
    token_required boolean not null,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    rotated_at timestamp with time zone,
    last_used_at timestamp with time zone,
    constraint registries_address_hash_key UNIQUE (address_hash),
    constraint registries_address_hash_length CHECK ((octet_length(address_hash) = 32)),
    constraint registries_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    constraint registries_pkey PRIMARY KEY (tenant_id, id),
    constraint registries_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table registries enable row level security;
alter table registries force row level security;
create policy tenant_rows on registries for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on registries to patchbay_app;

create table registry_agents (
    tenant_id uuid not null,
    registry_id uuid not null,
    agent_id uuid not null,
    constraint registry_agents_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint registry_agents_pkey PRIMARY KEY (tenant_id, registry_id, agent_id),
    constraint registry_agents_registry_fkey FOREIGN KEY (tenant_id, registry_id) REFERENCES registries(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX registry_agents_agent_idx ON public.registry_agents USING btree (tenant_id, agent_id);
alter table registry_agents enable row level security;
alter table registry_agents force row level security;
create policy tenant_rows on registry_agents for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on registry_agents to patchbay_app;

create table retired_keys (
    prefix bytea not null,
    retired_at timestamp with time zone not null default now(),
    constraint retired_keys_pkey PRIMARY KEY (prefix),
    constraint retired_keys_prefix_length CHECK ((length(prefix) = 5))
);
CREATE TRIGGER wraps_nothing BEFORE INSERT ON public.retired_keys FOR EACH ROW EXECUTE FUNCTION refuse_retiring_wrapping_key();
alter table retired_keys enable row level security;
alter table retired_keys force row level security;
create policy everybody_reads on retired_keys for r using (true) with check ();
create policy system_adds on retired_keys for a using () with check (system_scope());
grant insert, select on retired_keys to patchbay_app;

create table retired_mac_keys (
    prefix bytea not null,
    retired_at timestamp with time zone not null default now(),
    constraint retired_mac_keys_pkey PRIMARY KEY (prefix),
    constraint retired_mac_keys_prefix_length CHECK ((length(prefix) = 5))
);
alter table retired_mac_keys enable row level security;
alter table retired_mac_keys force row level security;
create policy everybody_reads on retired_mac_keys for r using (true) with check ();
create policy system_adds on retired_mac_keys for a using () with check (( SELECT system_scope() AS system_scope));
grant insert, select on retired_mac_keys to patchbay_app;

create table retired_tenant_keys (
    tenant_id uuid not null,
    prefix bytea not null,
    retired_at timestamp with time zone not null default now(),
    constraint retired_tenant_keys_pkey PRIMARY KEY (tenant_id, prefix),
    constraint retired_tenant_keys_prefix_length CHECK ((length(prefix) = 5)),
    constraint retired_tenant_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table retired_tenant_keys enable row level security;
alter table retired_tenant_keys force row level security;
create policy system_adds on retired_tenant_keys for a using () with check (( SELECT system_scope() AS system_scope));
create policy tenant_reads on retired_tenant_keys for r using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check ();
grant insert, select on retired_tenant_keys to patchbay_app;

create table revocation_clients (
    tenant_id uuid not null,
    id uuid not null,
    connector_id uuid not null,
    client_id text not null,
    origin text not null,
    issuer text not null,
    sealed bytea not null,
    constraint revocation_clients_pkey PRIMARY KEY (tenant_id, id),
    constraint revocation_clients_revocation_fkey FOREIGN KEY (tenant_id, id) REFERENCES account_revocations(tenant_id, id) ON DELETE CASCADE
);
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.revocation_clients FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table revocation_clients enable row level security;
alter table revocation_clients force row level security;
create policy tenant_rows on revocation_clients for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on revocation_clients to patchbay_app;

create table scim_group_members (
    tenant_id uuid not null,
    group_id uuid not null,
    scim_user_id uuid not null,
    constraint scim_group_members_group_fkey FOREIGN KEY (tenant_id, group_id) REFERENCES scim_groups(tenant_id, id) ON DELETE CASCADE,
    constraint scim_group_members_pkey PRIMARY KEY (tenant_id, group_id, scim_user_id),
    constraint scim_group_members_user_fkey FOREIGN KEY (tenant_id, scim_user_id) REFERENCES scim_users(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX scim_group_members_user_idx ON public.scim_group_members USING btree (tenant_id, scim_user_id);
alter table scim_group_members enable row level security;
alter table scim_group_members force row level security;
create policy tenant_rows on scim_group_members for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on scim_group_members to patchbay_app;

create table scim_groups (
    tenant_id uuid not null,
    id uuid not null,
    display_name text not null,
    external_id text,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint scim_groups_lengths CHECK ((((length(display_name) >= 1) AND (length(display_name) <= 320)) AND ((length(external_id) >= 1) AND (length(external_id) <= 320)))),
    constraint scim_groups_pkey PRIMARY KEY (tenant_id, id),
    constraint scim_groups_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES scim_settings(tenant_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX scim_groups_display_name_key ON public.scim_groups USING btree (tenant_id, lower(display_name));
CREATE INDEX scim_groups_external_id_idx ON public.scim_groups USING btree (tenant_id, external_id) WHERE (external_id IS NOT NULL);
alter table scim_groups enable row level security;
alter table scim_groups force row level security;
create policy tenant_rows on scim_groups for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on scim_groups to patchbay_app;

create table scim_settings (
    tenant_id uuid not null,
    id uuid not null,
    prefix text not null,
    secret_mac bytea not null,
    created_at timestamp with time zone not null default now(),
    rotated_at timestamp with time zone,
    last_request_at timestamp with time zone,
    constraint scim_settings_id_key UNIQUE (id),
    constraint scim_settings_pkey PRIMARY KEY (tenant_id),
    constraint scim_settings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER recognised_by_a_living_key BEFORE INSERT OR UPDATE OF secret_mac ON public.scim_settings FOR EACH ROW EXECUTE FUNCTION refuse_retired_mac();
alter table scim_settings enable row level security;
alter table scim_settings force row level security;
create policy tenant_rows on scim_settings for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on scim_settings to patchbay_app;

create table scim_users (
    tenant_id uuid not null,
    id uuid not null,
    user_name text not null,
    external_id text,
    email text not null,
    active boolean not null,
    user_id uuid,
    attributes jsonb not null,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint scim_users_lengths CHECK ((((length(user_name) >= 1) AND (length(user_name) <= 320)) AND ((length(external_id) >= 1) AND (length(external_id) <= 320)) AND ((length(email) >= 3) AND (length(email) <= 254)) AND (octet_length((attributes)::text) <= 65536))),
    constraint scim_users_member_active CHECK ((active OR (user_id IS NULL))),
    constraint scim_users_member_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES memberships(tenant_id, user_id) ON DELETE SET NULL (user_id),
    constraint scim_users_member_key UNIQUE (tenant_id, user_id),
    constraint scim_users_pkey PRIMARY KEY (tenant_id, id),
    constraint scim_users_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES scim_settings(tenant_id) ON DELETE CASCADE
);
CREATE INDEX scim_users_email_idx ON public.scim_users USING btree (tenant_id, email);
CREATE UNIQUE INDEX scim_users_email_key ON public.scim_users USING btree (tenant_id, email) WHERE active;
CREATE INDEX scim_users_external_id_idx ON public.scim_users USING btree (tenant_id, external_id) WHERE (external_id IS NOT NULL);
CREATE UNIQUE INDEX scim_users_user_name_key ON public.scim_users USING btree (tenant_id, lower(user_name));
alter table scim_users enable row level security;
alter table scim_users force row level security;
create policy tenant_rows on scim_users for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on scim_users to patchbay_app;

create table search_terms (
    tenant_id uuid not null,
    connector_id uuid not null,
    tool text not null,
    term text not null,
    weight double precision not null,
    learned_at timestamp with time zone not null default now(),
    constraint search_terms_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint search_terms_pkey PRIMARY KEY (tenant_id, term, connector_id, tool),
    constraint search_terms_term_length CHECK (((octet_length(term) >= 1) AND (octet_length(term) <= 32))),
    constraint search_terms_tool_length CHECK (((octet_length(tool) >= 1) AND (octet_length(tool) <= 256))),
    constraint search_terms_weight_range CHECK (((weight > (0)::double precision) AND (weight <= (16)::double precision)))
);
CREATE INDEX search_terms_connector_idx ON public.search_terms USING btree (tenant_id, connector_id);
CREATE INDEX search_terms_learned_idx ON public.search_terms USING btree (learned_at);
alter table search_terms enable row level security;
alter table search_terms force row level security;
create policy tenant_rows on search_terms for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on search_terms to patchbay_app;

create table second_factors (
    user_id uuid not null,
    sealed bytea not null,
    created_at timestamp with time zone not null default now(),
    confirmed_at timestamp with time zone,
    last_step bigint not null default 0,
    begun_by uuid,
    wrong_codes integer not null default 0,
    constraint second_factors_pkey PRIMARY KEY (user_id),
    constraint second_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.second_factors FOR EACH ROW EXECUTE FUNCTION refuse_retired_installation_key();
alter table second_factors enable row level security;
alter table second_factors force row level security;
create policy member_reads on second_factors for r using ((( SELECT system_scope() AS system_scope) OR (user_id IN ( SELECT memberships.user_id
   FROM memberships)))) with check ();
create policy system_adds on second_factors for a using () with check (( SELECT system_scope() AS system_scope));
create policy system_changes on second_factors for w using (( SELECT system_scope() AS system_scope)) with check (( SELECT system_scope() AS system_scope));
create policy system_removes on second_factors for d using (( SELECT system_scope() AS system_scope)) with check ();
grant delete, insert, select, update on second_factors to patchbay_app;

create table sessions (
    token text not null,
    data bytea not null,
    expiry timestamp with time zone not null,
    constraint sessions_pkey PRIMARY KEY (token)
);
CREATE INDEX sessions_expiry_idx ON public.sessions USING btree (expiry);
alter table sessions enable row level security;
alter table sessions force row level security;
create policy system_rows on sessions for all using (( SELECT system_scope() AS system_scope)) with check (( SELECT system_scope() AS system_scope));
grant delete, insert, select, update on sessions to patchbay_app;

create table setup_links (
    token_hash bytea not null,
    tenant_id uuid not null,
    created_at timestamp with time zone not null default now(),
    constraint setup_links_pkey PRIMARY KEY (token_hash),
    constraint setup_links_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table setup_links enable row level security;
alter table setup_links force row level security;
create policy system_rows on setup_links for all using (( SELECT system_scope() AS system_scope)) with check (( SELECT system_scope() AS system_scope));
grant delete, insert, select, update on setup_links to patchbay_app;

create table sign_in_failures (
    id bigint not null generated always as identity,
    account text not null,
    address text not null,
    at timestamp with time zone not null default now(),
    told_at timestamp with time zone,
    constraint sign_in_failures_pkey PRIMARY KEY (id)
);
CREATE INDEX sign_in_failures_account_idx ON public.sign_in_failures USING btree (account, at);
CREATE INDEX sign_in_failures_address_idx ON public.sign_in_failures USING btree (address, at);
alter table sign_in_failures enable row level security;
alter table sign_in_failures force row level security;
create policy system_rows on sign_in_failures for all using (( SELECT system_scope() AS system_scope)) with check (( SELECT system_scope() AS system_scope));
grant delete, insert, select, update on sign_in_failures to patchbay_app;

create table signing_keys (
    tenant_id uuid not null,
    id uuid not null,
    sealed bytea not null,
    created_at timestamp with time zone not null default now(),
    constraint signing_keys_pkey PRIMARY KEY (tenant_id, id),
    constraint signing_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.signing_keys FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table signing_keys enable row level security;
alter table signing_keys force row level security;
create policy tenant_rows on signing_keys for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on signing_keys to patchbay_app;

create table skills (
    tenant_id uuid not null,
    connector_id uuid not null,
    uri text not null,
    current_hash bytea not null,
    accepted_hash bytea,
    review text not null,
    first_seen_at timestamp with time zone not null default now(),
    changed_at timestamp with time zone not null default now(),
    removed_at timestamp with time zone,
    constraint skills_accepted_is_current CHECK (((review <> 'accepted'::text) OR (accepted_hash = current_hash))),
    constraint skills_changed_keeps_accepted CHECK (((review <> 'changed'::text) OR (accepted_hash IS NOT NULL))),
    constraint skills_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint skills_new_has_no_accepted CHECK (((review <> 'new'::text) OR (accepted_hash IS NULL))),
    constraint skills_pkey PRIMARY KEY (tenant_id, connector_id, uri),
    constraint skills_review_known CHECK ((review = ANY (ARRAY['accepted'::text, 'changed'::text, 'new'::text, 'rejected'::text]))),
    constraint skills_uri_length CHECK (((octet_length(uri) >= 1) AND (octet_length(uri) <= 1024)))
);
CREATE TRIGGER say_changed_skills AFTER UPDATE ON public.skills REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION say_changed_tools();
CREATE TRIGGER say_gone_skills AFTER DELETE ON public.skills REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION say_changed_tools();
CREATE TRIGGER say_new_skills AFTER INSERT ON public.skills REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION say_changed_tools();
alter table skills enable row level security;
alter table skills force row level security;
create policy tenant_rows on skills for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on skills to patchbay_app;

create table spent_confirmations (
    tenant_id uuid not null,
    id uuid not null,
    until timestamp with time zone not null,
    constraint spent_confirmations_pkey PRIMARY KEY (tenant_id, id),
    constraint spent_confirmations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX spent_confirmations_until_idx ON public.spent_confirmations USING btree (tenant_id, until);
alter table spent_confirmations enable row level security;
alter table spent_confirmations force row level security;
create policy tenant_rows on spent_confirmations for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on spent_confirmations to patchbay_app;

create table sso_domains (
    tenant_id uuid not null,
    domain text not null,
    proof text not null,
    created_at timestamp with time zone not null default now(),
    verified_at timestamp with time zone,
    verified_by text,
    constraint sso_domains_form CHECK (((domain = lower(domain)) AND (domain ~ '^[a-z0-9-]+(\.[a-z0-9-]+)+$'::text) AND (length(domain) <= 253))),
    constraint sso_domains_pkey PRIMARY KEY (tenant_id, domain),
    constraint sso_domains_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint sso_domains_verified_by_known CHECK ((verified_by = ANY (ARRAY['dns'::text, 'operator'::text]))),
    constraint sso_domains_verified_whole CHECK (((verified_at IS NULL) = (verified_by IS NULL)))
);
CREATE UNIQUE INDEX sso_domains_verified_key ON public.sso_domains USING btree (domain) WHERE (verified_at IS NOT NULL);
alter table sso_domains enable row level security;
alter table sso_domains force row level security;
create policy tenant_rows on sso_domains for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on sso_domains to patchbay_app;

create table sso_flows (
    tenant_id uuid not null,
    id uuid not null,
    browser bytea not null,
    issuer text not null,
    client_id text not null,
    tester uuid,
    return_to text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null,
    confirms uuid,
    constraint sso_flows_browser_length CHECK ((length(browser) = 32)),
    constraint sso_flows_pkey PRIMARY KEY (tenant_id, id),
    constraint sso_flows_return_to_length CHECK ((length(return_to) <= 8192)),
    constraint sso_flows_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX sso_flows_expires_idx ON public.sso_flows USING btree (tenant_id, expires_at);
alter table sso_flows enable row level security;
alter table sso_flows force row level security;
create policy tenant_rows on sso_flows for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on sso_flows to patchbay_app;

create table sso_groups (
    tenant_id uuid not null,
    group_name text not null,
    role text not null,
    constraint sso_groups_name_length CHECK (((length(group_name) >= 1) AND (length(group_name) <= 200))),
    constraint sso_groups_pkey PRIMARY KEY (tenant_id, group_name),
    constraint sso_groups_role_known CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text, 'owner'::text, 'auditor'::text]))),
    constraint sso_groups_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table sso_groups enable row level security;
alter table sso_groups force row level security;
create policy tenant_rows on sso_groups for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on sso_groups to patchbay_app;

create table sso_identities (
    tenant_id uuid not null,
    issuer text not null,
    subject text not null,
    user_id uuid not null,
    created_at timestamp with time zone not null default now(),
    signed_in_at timestamp with time zone not null default now(),
    email text not null default ''::text,
    constraint sso_identities_member_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES memberships(tenant_id, user_id) ON DELETE CASCADE,
    constraint sso_identities_pkey PRIMARY KEY (tenant_id, issuer, subject),
    constraint sso_identities_subject_length CHECK (((length(subject) >= 1) AND (length(subject) <= 255))),
    constraint sso_identities_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint sso_identities_user_key UNIQUE (tenant_id, issuer, user_id)
);
CREATE INDEX sso_identities_member_idx ON public.sso_identities USING btree (tenant_id, user_id);
CREATE INDEX sso_identities_subject_idx ON public.sso_identities USING btree (issuer, subject);
alter table sso_identities enable row level security;
alter table sso_identities force row level security;
create policy tenant_rows on sso_identities for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on sso_identities to patchbay_app;

create table sso_settings (
    tenant_id uuid not null,
    issuer text not null,
    client_id text not null,
    sealed bytea not null,
    groups_claim text not null default 'groups'::text,
    joins boolean not null default false,
    default_role text,
    enabled boolean not null default false,
    enforced boolean not null default false,
    break_glass uuid,
    tested_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    managed_accounts boolean not null default false,
    managed_clients boolean not null default false,
    constraint sso_settings_break_glass_fkey FOREIGN KEY (tenant_id, break_glass) REFERENCES memberships(tenant_id, user_id),
    constraint sso_settings_default_role_known CHECK ((default_role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text]))),
    constraint sso_settings_enabled_tested CHECK (((NOT enabled) OR (tested_at IS NOT NULL))),
    constraint sso_settings_enforced_has_a_way CHECK (((NOT enforced) OR (enabled AND (break_glass IS NOT NULL)))),
    constraint sso_settings_lengths CHECK ((((length(issuer) >= 1) AND (length(issuer) <= 2048)) AND ((length(client_id) >= 1) AND (length(client_id) <= 500)) AND ((length(groups_claim) >= 1) AND (length(groups_claim) <= 200)))),
    constraint sso_settings_pkey PRIMARY KEY (tenant_id),
    constraint sso_settings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.sso_settings FOR EACH ROW WHEN ((new.sealed IS NOT NULL)) EXECUTE FUNCTION refuse_retired_key();
alter table sso_settings enable row level security;
alter table sso_settings force row level security;
create policy tenant_rows on sso_settings for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on sso_settings to patchbay_app;

create table sso_tokens (
    tenant_id uuid not null,
    user_id uuid not null,
    issuer text not null,
    sealed bytea not null,
    signed_in_at timestamp with time zone not null default now(),
    constraint sso_tokens_issuer_length CHECK (((length(issuer) >= 1) AND (length(issuer) <= 2048))),
    constraint sso_tokens_member_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES memberships(tenant_id, user_id) ON DELETE CASCADE,
    constraint sso_tokens_pkey PRIMARY KEY (tenant_id, user_id)
);
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.sso_tokens FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table sso_tokens enable row level security;
alter table sso_tokens force row level security;
create policy tenant_rows on sso_tokens for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on sso_tokens to patchbay_app;

create table sync_hours (
    tenant_id uuid not null,
    hour timestamp with time zone not null,
    ok integer not null,
    failed integer not null,
    tools integer,
    constraint sync_hours_pkey PRIMARY KEY (tenant_id, hour),
    constraint sync_hours_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX sync_hours_age_idx ON public.sync_hours USING btree (hour);
alter table sync_hours enable row level security;
alter table sync_hours force row level security;
create policy tenant_rows on sync_hours for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on sync_hours to patchbay_app;

create table sync_run_requests (
    tenant_id uuid not null,
    run_id uuid not null,
    requests jsonb not null,
    constraint sync_run_requests_few CHECK (((jsonb_typeof(requests) = 'array'::text) AND (jsonb_array_length(requests) <= 64))),
    constraint sync_run_requests_pkey PRIMARY KEY (tenant_id, run_id),
    constraint sync_run_requests_run_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES sync_runs(tenant_id, id) ON DELETE CASCADE
);
alter table sync_run_requests enable row level security;
alter table sync_run_requests force row level security;
create policy tenant_rows on sync_run_requests for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on sync_run_requests to patchbay_app;

create table sync_runs (
    tenant_id uuid not null,
    id uuid not null,
    connector_id uuid not null,
    agent_id uuid,
    trigger text not null,
    state text not null,
    instance_id uuid,
    queued_at timestamp with time zone not null default now(),
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    tools_total integer not null default 0,
    tools_added integer not null default 0,
    tools_changed integer not null default 0,
    tools_removed integer not null default 0,
    tools_quarantined integer not null default 0,
    protocol_version text not null default ''::text,
    error_code text,
    error_message text,
    repeats integer not null default 0,
    repeated_at timestamp with time zone,
    sweep_id uuid,
    upstream jsonb,
    item_counts jsonb,
    cancelled_by text,
    constraint sync_runs_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE SET NULL (agent_id),
    constraint sync_runs_cancelled_by CHECK (((state = 'cancelled'::text) = (cancelled_by IS NOT NULL))) NOT VALID,
    constraint sync_runs_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint sync_runs_ended_has_end CHECK (((state = ANY (ARRAY['ok'::text, 'error'::text, 'cancelled'::text])) = (finished_at IS NOT NULL))) NOT VALID,
    constraint sync_runs_error_whole CHECK (((error_code IS NULL) = (error_message IS NULL))),
    constraint sync_runs_pkey PRIMARY KEY (tenant_id, id),
    constraint sync_runs_repeats_whole CHECK (((repeats > 0) = (repeated_at IS NOT NULL))),
    constraint sync_runs_running_has_owner CHECK (((state <> 'running'::text) OR ((instance_id IS NOT NULL) AND (started_at IS NOT NULL)))),
    constraint sync_runs_state_known CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'ok'::text, 'error'::text, 'cancelled'::text]))) NOT VALID,
    constraint sync_runs_trigger_known CHECK ((trigger = ANY (ARRAY['manual'::text, 'api'::text, 'oauth'::text, 'schedule'::text, 'list_changed'::text]))),
    constraint sync_runs_upstream_short CHECK ((octet_length((upstream ->> 'said'::text)) <= 2048)) NOT VALID
);
CREATE INDEX sync_runs_agent_idx ON public.sync_runs USING btree (tenant_id, agent_id) WHERE (agent_id IS NOT NULL);
CREATE INDEX sync_runs_connector_idx ON public.sync_runs USING btree (tenant_id, connector_id, id DESC);
CREATE UNIQUE INDEX sync_runs_one_queued_key ON public.sync_runs USING btree (tenant_id, connector_id) WHERE (state = 'queued'::text);
CREATE UNIQUE INDEX sync_runs_one_running_key ON public.sync_runs USING btree (tenant_id, connector_id) WHERE (state = 'running'::text);
CREATE INDEX sync_runs_running_instance_idx ON public.sync_runs USING btree (instance_id) WHERE (state = 'running'::text);
CREATE INDEX sync_runs_sweep_idx ON public.sync_runs USING btree (tenant_id, sweep_id) WHERE (sweep_id IS NOT NULL);
alter table sync_runs enable row level security;
alter table sync_runs force row level security;
create policy tenant_rows on sync_runs for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on sync_runs to patchbay_app;

create table tenant_keys (
    tenant_id uuid not null,
    sealed bytea not null,
    prefix bytea not null,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    constraint tenant_keys_pkey PRIMARY KEY (tenant_id),
    constraint tenant_keys_prefix_length CHECK ((length(prefix) = 5)),
    constraint tenant_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE TRIGGER deleted_keys_are_told AFTER DELETE ON public.tenant_keys FOR EACH STATEMENT EXECUTE FUNCTION tell_of_deleted_keys();
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.tenant_keys FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table tenant_keys enable row level security;
alter table tenant_keys force row level security;
create policy system_changes on tenant_keys for w using (( SELECT system_scope() AS system_scope)) with check (( SELECT system_scope() AS system_scope));
create policy tenant_adds on tenant_keys for a using () with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
create policy tenant_reads on tenant_keys for r using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check ();
grant insert, select, update on tenant_keys to patchbay_app;

create table tenants (
    id uuid not null,
    slug text not null,
    name text not null,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    call_history text not null default 'redacted'::text,
    approval_timeout_s integer not null default 300,
    history_days smallint,
    default_approval text not null default 'always_ask'::text,
    default_sync_interval_s integer not null default 900,
    default_definition_age_s integer not null default 900,
    default_tool_changes text not null default 'hold_risky'::text,
    default_listen text not null default 'auto'::text,
    body_readers text not null default 'everyone'::text,
    second_factor_required boolean not null default false,
    calls_per_minute integer not null default 0,
    calls_per_day integer not null default 0,
    most_calls_per_minute integer not null default 0,
    most_calls_per_day integer not null default 0,
    down_after_failures integer not null default 3,
    down_after_minutes integer not null default 10,
    refuse_invalid_results boolean not null default false,
    sample boolean not null default false,
    first_steps_dismissed_at timestamp with time zone,
    token_exchange boolean not null default false,
    constraint tenants_approval_timeout_range CHECK (((approval_timeout_s >= 1) AND (approval_timeout_s <= 86400))),
    constraint tenants_body_readers_known CHECK ((body_readers = ANY (ARRAY['everyone'::text, 'auditors'::text]))),
    constraint tenants_call_history_known CHECK ((call_history = ANY (ARRAY['none'::text, 'redacted'::text, 'full'::text]))),
    constraint tenants_default_approval_known CHECK ((default_approval = ANY (ARRAY['auto'::text, 'always_ask'::text, 'trusted_only'::text, 'always_ask_all'::text]))) NOT VALID,
    constraint tenants_default_definition_age_bounds CHECK (((default_definition_age_s = 0) OR ((default_definition_age_s >= 60) AND (default_definition_age_s <= 86400)))),
    constraint tenants_default_listen_known CHECK ((default_listen = ANY (ARRAY['auto'::text, 'off'::text]))),
    constraint tenants_default_sync_interval_bounds CHECK (((default_sync_interval_s = 0) OR ((default_sync_interval_s >= 60) AND (default_sync_interval_s <= 31536000)))),
    constraint tenants_default_tool_changes_known CHECK ((default_tool_changes = ANY (ARRAY['auto'::text, 'hold_risky'::text, 'hold_all'::text]))),
    constraint tenants_down_after_range CHECK ((((down_after_failures >= 1) AND (down_after_failures <= 100)) AND ((down_after_minutes >= 1) AND (down_after_minutes <= 10080)))) NOT VALID,
    constraint tenants_history_days_range CHECK (((history_days >= 30) AND (history_days <= 3650))),
    constraint tenants_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    constraint tenants_pkey PRIMARY KEY (id),
    constraint tenants_quota_range CHECK ((((calls_per_minute >= 0) AND (calls_per_minute <= 1000000)) AND ((calls_per_day >= 0) AND (calls_per_day <= 1000000000)) AND ((most_calls_per_minute >= 0) AND (most_calls_per_minute <= 1000000)) AND ((most_calls_per_day >= 0) AND (most_calls_per_day <= 1000000000)))),
    constraint tenants_slug_form CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$'::text)),
    constraint tenants_slug_key UNIQUE (slug)
);
CREATE TRIGGER begin_outcomes AFTER INSERT ON public.tenants FOR EACH ROW EXECUTE FUNCTION begin_outcomes();
CREATE TRIGGER drop_answers AFTER UPDATE ON public.tenants FOR EACH ROW WHEN (((old.call_history <> 'none'::text) AND (new.call_history = 'none'::text))) EXECUTE FUNCTION drop_answers_of_tenant();
CREATE TRIGGER leave_calls AFTER DELETE ON public.tenants REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION leave_calls();
CREATE TRIGGER leave_definitions AFTER DELETE ON public.tenants REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION leave_definitions();
CREATE TRIGGER say_tenant_change AFTER UPDATE ON public.tenants FOR EACH ROW EXECUTE FUNCTION say_change('tenant', 'id', 'id');
alter table tenants enable row level security;
alter table tenants force row level security;
create policy tenant_rows on tenants for all using (((id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on tenants to patchbay_app;

create table tool_allowances (
    tenant_id uuid not null,
    agent_id uuid not null,
    connector_id uuid not null,
    tool text not null,
    until timestamp with time zone not null,
    granted_by text not null,
    definition_hash bytea,
    kind text not null default 'tool'::text,
    account text not null default ''::text,
    constraint tool_allowances_agent_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id) ON DELETE CASCADE,
    constraint tool_allowances_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint tool_allowances_definition_hash_length CHECK ((length(definition_hash) = 32)),
    constraint tool_allowances_grant_fkey FOREIGN KEY (tenant_id, agent_id, connector_id) REFERENCES agent_grants(tenant_id, agent_id, connector_id) ON DELETE CASCADE,
    constraint tool_allowances_item CHECK (((kind = 'tool'::text) OR ((definition_hash IS NULL) AND (octet_length(tool) <= 2000)))) NOT VALID,
    constraint tool_allowances_kind_known CHECK ((kind = ANY (ARRAY['tool'::text, 'prompt'::text, 'resource'::text]))) NOT VALID,
    constraint tool_allowances_pkey PRIMARY KEY (tenant_id, agent_id, connector_id, kind, tool, account)
);
CREATE INDEX tool_allowances_connector_idx ON public.tool_allowances USING btree (tenant_id, connector_id);
CREATE TRIGGER say_allowance_change AFTER INSERT OR DELETE OR UPDATE ON public.tool_allowances FOR EACH ROW EXECUTE FUNCTION say_change('agent', 'tenant_id', 'agent_id');
alter table tool_allowances enable row level security;
alter table tool_allowances force row level security;
create policy tenant_rows on tool_allowances for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on tool_allowances to patchbay_app;

create table tool_calls (
    tenant_id uuid not null,
    id uuid not null,
    agent_id uuid,
    agent_slug text not null,
    connector_id uuid,
    connector_slug text not null,
    kind text not null default 'tool'::text,
    tool text not null,
    exposed_name text not null,
    source text not null default 'gateway'::text,
    caller text not null default ''::text,
    token_id uuid,
    credential_id uuid,
    definition_hash bytea,
    instance_id uuid,
    status text not null,
    outcome text not null default ''::text,
    error_code text not null default ''::text,
    error_message text not null default ''::text,
    is_error boolean not null default false,
    approved_by text not null default ''::text,
    arguments bytea,
    content bytea,
    structured bytea,
    task bytea,
    truncated boolean not null default false,
    request_bytes bigint not null default 0,
    response_bytes bigint not null default 0,
    started_at timestamp with time zone not null,
    completed_at timestamp with time zone,
    duration_us bigint,
    task_handle text,
    progress bytea,
    address text,
    request_id text,
    packed bytea,
    upstream bytea,
    structured_valid boolean,
    structured_error text not null default ''::text,
    task_expires_at timestamp with time zone,
    waited_us bigint,
    constraint tool_calls_ended_has_end CHECK ((((status = ANY (ARRAY['success'::text, 'error'::text, 'denied'::text, 'cancelled'::text])) = (completed_at IS NOT NULL)) AND ((completed_at IS NULL) = (duration_us IS NULL)))),
    constraint tool_calls_kind_known CHECK ((kind = ANY (ARRAY['tool'::text, 'prompt'::text, 'resource'::text, 'completion'::text, 'method'::text]))) NOT VALID,
    constraint tool_calls_outcome_known CHECK ((outcome = ANY (ARRAY[''::text, 'ok'::text, 'tool_error'::text, 'rpc_error'::text, 'transport'::text, 'refused'::text, 'denied'::text, 'cancelled'::text, 'lost'::text]))),
    constraint tool_calls_pkey PRIMARY KEY (tenant_id, id),
    constraint tool_calls_source_known CHECK ((source = ANY (ARRAY['gateway'::text, 'api'::text, 'dashboard'::text]))),
    constraint tool_calls_status_known CHECK ((status = ANY (ARRAY['pending_approval'::text, 'running'::text, 'success'::text, 'error'::text, 'denied'::text, 'cancelled'::text]))),
    constraint tool_calls_upstream_short CHECK ((octet_length(upstream) <= 16384)) NOT VALID
);
CREATE INDEX tool_calls_agent_idx ON public.tool_calls USING btree (tenant_id, agent_id, id DESC);
CREATE INDEX tool_calls_connector_idx ON public.tool_calls USING btree (tenant_id, connector_id, id DESC);
CREATE INDEX tool_calls_open_idx ON public.tool_calls USING btree (tenant_id, id) WHERE (completed_at IS NULL);
CREATE INDEX tool_calls_tasks_idx ON public.tool_calls USING btree (tenant_id, id DESC) WHERE (task_handle IS NOT NULL);
CREATE TRIGGER note_calls AFTER INSERT ON public.tool_calls REFERENCING NEW TABLE AS new_calls FOR EACH STATEMENT EXECUTE FUNCTION note_calls();
CREATE TRIGGER note_changed_calls AFTER UPDATE ON public.tool_calls REFERENCING OLD TABLE AS old_calls NEW TABLE AS new_calls FOR EACH STATEMENT EXECUTE FUNCTION note_changed_calls();
CREATE TRIGGER note_removed_calls AFTER DELETE ON public.tool_calls REFERENCING OLD TABLE AS old_calls FOR EACH STATEMENT EXECUTE FUNCTION note_removed_calls();
alter table tool_calls enable row level security;
alter table tool_calls force row level security;
create policy tenant_rows on tool_calls for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on tool_calls to patchbay_app;

create table tool_changes (
    tenant_id uuid not null,
    id uuid not null,
    connector_id uuid not null,
    tool text not null,
    sync_run_id uuid,
    seen_at timestamp with time zone not null default now(),
    before_hash bytea,
    after_hash bytea,
    kinds text[] not null,
    risk text not null,
    state text not null,
    decided_by text not null default ''::text,
    decided_at timestamp with time zone,
    constraint tool_changes_decided CHECK (((state = ANY (ARRAY['accepted'::text, 'rejected'::text, 'kept'::text])) = (decided_at IS NOT NULL))) NOT VALID,
    constraint tool_changes_has_definition CHECK (((after_hash IS NOT NULL) OR (before_hash IS NOT NULL))),
    constraint tool_changes_pkey PRIMARY KEY (tenant_id, id),
    constraint tool_changes_risk_known CHECK ((risk = ANY (ARRAY['none'::text, 'low'::text, 'high'::text]))),
    constraint tool_changes_state_known CHECK ((state = ANY (ARRAY['waiting'::text, 'accepted'::text, 'rejected'::text, 'kept'::text, 'automatic'::text, 'superseded'::text]))) NOT VALID,
    constraint tool_changes_waiting_has_definition CHECK (((state <> 'waiting'::text) OR (after_hash IS NOT NULL)))
);
CREATE UNIQUE INDEX tool_changes_one_waits_key ON public.tool_changes USING btree (tenant_id, connector_id, tool) WHERE (state = 'waiting'::text);
CREATE INDEX tool_changes_tool_idx ON public.tool_changes USING btree (tenant_id, connector_id, tool, id DESC);
CREATE INDEX tool_changes_waiting_idx ON public.tool_changes USING btree (tenant_id, id DESC) WHERE (state = 'waiting'::text);
alter table tool_changes enable row level security;
alter table tool_changes force row level security;
create policy tenant_rows on tool_changes for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on tool_changes to patchbay_app;

create table tool_definitions (
    tenant_id uuid not null,
    hash bytea not null,
    raw bytea not null,
    title text not null default ''::text,
    description text not null default ''::text,
    search tsvector not null,
    created_at timestamp with time zone not null default now(),
    constraint tool_definitions_hash_length CHECK ((length(hash) = 32)),
    constraint tool_definitions_pkey PRIMARY KEY (tenant_id, hash)
);
alter table tool_definitions enable row level security;
alter table tool_definitions force row level security;
create policy tenant_rows on tool_definitions for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on tool_definitions to patchbay_app;

create table tool_vectors (
    tenant_id uuid not null,
    definition_hash bytea not null,
    model text not null,
    vector bytea not null,
    constraint tool_vectors_definition_fkey FOREIGN KEY (tenant_id, definition_hash) REFERENCES tool_definitions(tenant_id, hash) ON DELETE CASCADE,
    constraint tool_vectors_model_length CHECK (((length(model) >= 1) AND (length(model) <= 200))),
    constraint tool_vectors_pkey PRIMARY KEY (tenant_id, definition_hash, model),
    constraint tool_vectors_size CHECK (((octet_length(vector) >= 1) AND (octet_length(vector) <= 8192)))
);
alter table tool_vectors enable row level security;
alter table tool_vectors force row level security;
create policy tenant_rows on tool_vectors for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on tool_vectors to patchbay_app;

create table tools (
    tenant_id uuid not null,
    connector_id uuid not null,
    name text not null,
    current_hash bytea not null,
    accepted_hash bytea,
    review text not null,
    enabled boolean not null default true,
    first_seen_at timestamp with time zone not null,
    last_seen_at timestamp with time zone not null,
    changed_at timestamp with time zone not null,
    removed_at timestamp with time zone,
    alias text not null default ''::text,
    agent_text text not null default ''::text,
    tags text[] not null default '{}'::text[],
    calls_per_minute integer not null default 0,
    calls_per_day integer not null default 0,
    constraint tools_accepted_is_current CHECK (((review <> 'accepted'::text) OR (accepted_hash = current_hash))),
    constraint tools_agent_text_length CHECK ((length(agent_text) <= 4000)),
    constraint tools_alias_spelling CHECK (((alias = ''::text) OR (alias ~ '^[A-Za-z0-9_.-]{1,128}$'::text))),
    constraint tools_changed_keeps_accepted CHECK (((review <> 'changed'::text) OR (accepted_hash IS NOT NULL))),
    constraint tools_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint tools_name_length CHECK (((length(name) >= 1) AND (length(name) <= 128))),
    constraint tools_new_has_no_accepted CHECK (((review <> 'new'::text) OR (accepted_hash IS NULL))),
    constraint tools_pkey PRIMARY KEY (tenant_id, connector_id, name),
    constraint tools_quota_range CHECK ((((calls_per_minute >= 0) AND (calls_per_minute <= 1000000)) AND ((calls_per_day >= 0) AND (calls_per_day <= 1000000000)))),
    constraint tools_review_known CHECK ((review = ANY (ARRAY['accepted'::text, 'changed'::text, 'new'::text, 'rejected'::text, 'kept'::text]))) NOT VALID,
    constraint tools_tags_few CHECK ((cardinality(tags) <= 20))
) with (fillfactor=85);
CREATE UNIQUE INDEX tools_alias_key ON public.tools USING btree (tenant_id, connector_id, alias) WHERE (alias <> ''::text);
CREATE INDEX tools_name_idx ON public.tools USING btree (tenant_id, name, connector_id);
CREATE TRIGGER say_changed_tools AFTER UPDATE ON public.tools REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION say_changed_tools();
CREATE TRIGGER say_gone_tools AFTER DELETE ON public.tools REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION say_changed_tools();
CREATE TRIGGER say_new_tools AFTER INSERT ON public.tools REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION say_changed_tools();
alter table tools enable row level security;
alter table tools force row level security;
create policy tenant_rows on tools for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on tools to patchbay_app;

create table upstream_listeners (
    tenant_id uuid not null,
    connector_id uuid not null,
    instance_id uuid,
    state text not null default 'waiting'::text,
    since timestamp with time zone not null default now(),
    due_at timestamp with time zone default now(),
    reason text not null default ''::text,
    version integer not null,
    credential_id uuid,
    credential_version integer not null default 0,
    failures integer not null default 0,
    vain integer not null default 0,
    notified bigint not null default 0,
    last_notified_at timestamp with time zone,
    missed boolean not null default false,
    constraint upstream_listeners_connector_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE,
    constraint upstream_listeners_counts_positive CHECK (((failures >= 0) AND (vain >= 0) AND (notified >= 0))),
    constraint upstream_listeners_instance_fkey FOREIGN KEY (instance_id) REFERENCES instances(id) ON DELETE SET NULL,
    constraint upstream_listeners_off_has_reason CHECK (((state <> 'off'::text) OR (reason <> ''::text))),
    constraint upstream_listeners_off_is_free CHECK (((state <> 'off'::text) OR (instance_id IS NULL))),
    constraint upstream_listeners_pkey PRIMARY KEY (tenant_id, connector_id),
    constraint upstream_listeners_state_known CHECK ((state = ANY (ARRAY['waiting'::text, 'listening'::text, 'off'::text])))
);
CREATE INDEX upstream_listeners_due_idx ON public.upstream_listeners USING btree (due_at) WHERE (instance_id IS NULL);
CREATE INDEX upstream_listeners_instance_idx ON public.upstream_listeners USING btree (instance_id);
alter table upstream_listeners enable row level security;
alter table upstream_listeners force row level security;
create policy tenant_rows on upstream_listeners for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on upstream_listeners to patchbay_app;

create table usage_marks (
    tenant_id uuid not null,
    since timestamp with time zone not null,
    hour timestamp with time zone not null,
    ok integer not null,
    failed integer not null,
    other integer not null,
    buckets smallint[] not null,
    counts integer[] not null,
    syncs_ok integer not null,
    syncs_failed integer not null,
    constraint usage_marks_hour_of_since CHECK (((hour <= since) AND (since < (hour + '01:00:00'::interval)))),
    constraint usage_marks_one_count_a_bucket CHECK ((cardinality(buckets) = cardinality(counts))),
    constraint usage_marks_pkey PRIMARY KEY (tenant_id),
    constraint usage_marks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
alter table usage_marks enable row level security;
alter table usage_marks force row level security;
create policy tenant_rows on usage_marks for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on usage_marks to patchbay_app;

create table used_assertions (
    tenant_id uuid not null,
    digest bytea not null,
    assertion_hash bytea not null,
    workload_id uuid not null,
    token_id uuid not null,
    used_at timestamp with time zone not null,
    expires_at timestamp with time zone not null,
    refused_at timestamp with time zone,
    constraint used_assertions_hash_lengths CHECK (((octet_length(digest) = 32) AND (octet_length(assertion_hash) = 32))),
    constraint used_assertions_pkey PRIMARY KEY (tenant_id, digest),
    constraint used_assertions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX used_assertions_expires_idx ON public.used_assertions USING btree (tenant_id, expires_at);
alter table used_assertions enable row level security;
alter table used_assertions force row level security;
create policy tenant_rows on used_assertions for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on used_assertions to patchbay_app;

create table used_proofs (
    tenant_id uuid not null,
    digest bytea not null,
    expires_at timestamp with time zone not null,
    constraint used_proofs_digest_length CHECK ((octet_length(digest) = 32)),
    constraint used_proofs_pkey PRIMARY KEY (tenant_id, digest),
    constraint used_proofs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX used_proofs_expires_idx ON public.used_proofs USING btree (expires_at);
alter table used_proofs enable row level security;
alter table used_proofs force row level security;
create policy tenant_rows on used_proofs for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on used_proofs to patchbay_app;

create table user_passwords (
    user_id uuid not null,
    hash text not null,
    constraint user_passwords_hash_filled CHECK ((hash <> ''::text)),
    constraint user_passwords_pkey PRIMARY KEY (user_id),
    constraint user_passwords_user_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_passwords_cost_idx ON public.user_passwords USING btree (split_part(hash, '$'::text, 4));
alter table user_passwords enable row level security;
alter table user_passwords force row level security;
create policy issuer_adds on user_passwords for a using () with check ((EXISTS ( SELECT
   FROM users
  WHERE ((users.id = user_passwords.user_id) AND (users.issued_by = ( SELECT tenant() AS tenant))))));
create policy system_rows on user_passwords for all using (( SELECT system_scope() AS system_scope)) with check (( SELECT system_scope() AS system_scope));
grant delete, insert, select, update on user_passwords to patchbay_app;

create table users (
    id uuid not null,
    email text not null,
    name text not null default ''::text,
    password_hash text,
    password_set_at timestamp with time zone not null default now(),
    signed_in_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    signed_out_at timestamp with time zone,
    issued_by uuid,
    address text not null generated always as (
CASE
    WHEN (issued_by IS NULL) THEN email
    ELSE substr(email, 38)
END) stored,
    constraint users_email_form CHECK (((email = lower(email)) AND (address ~ '^[^@\s]+@[^@\s]+$'::text) AND (length(address) <= 254))),
    constraint users_email_key UNIQUE (email),
    constraint users_email_key_form CHECK (
CASE
    WHEN (issued_by IS NULL) THEN (email !~ '^[0-9a-f-]{36}:'::text)
    ELSE (email = (((issued_by)::text || ':'::text) || address))
END),
    constraint users_issued_by_fkey FOREIGN KEY (issued_by) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint users_pkey PRIMARY KEY (id)
);
CREATE INDEX users_address_idx ON public.users USING btree (address);
CREATE INDEX users_issued_by_idx ON public.users USING btree (issued_by) WHERE (issued_by IS NOT NULL);
CREATE TRIGGER store_password_hash AFTER INSERT OR UPDATE OF password_hash ON public.users FOR EACH ROW WHEN (((new.password_hash IS NOT NULL) AND (pg_trigger_depth() = 0))) EXECUTE FUNCTION store_password_hash();
alter table users enable row level security;
alter table users force row level security;
create policy issuer_adds on users for a using () with check ((( SELECT system_scope() AS system_scope) OR (issued_by = ( SELECT tenant() AS tenant))));
create policy issuer_changes on users for w using ((( SELECT system_scope() AS system_scope) OR (issued_by = ( SELECT tenant() AS tenant)))) with check ((( SELECT system_scope() AS system_scope) OR (issued_by = ( SELECT tenant() AS tenant))));
create policy issuer_removes on users for d using ((( SELECT system_scope() AS system_scope) OR (issued_by = ( SELECT tenant() AS tenant)))) with check ();
create policy member_reads on users for r using ((( SELECT system_scope() AS system_scope) OR (issued_by = ( SELECT tenant() AS tenant)) OR (EXISTS ( SELECT
   FROM memberships
  WHERE (memberships.user_id = users.id))))) with check ();
grant delete, insert, select, update on users to patchbay_app;

create table webhook_deliveries (
    tenant_id uuid not null,
    id uuid not null,
    webhook_id uuid not null,
    notice_id uuid,
    kind text not null,
    body jsonb not null,
    state text not null default 'waiting'::text,
    attempts integer not null default 0,
    tries integer not null default 0,
    created_at timestamp with time zone not null default now(),
    next_at timestamp with time zone,
    tried_at timestamp with time zone,
    status integer,
    error text not null default ''::text,
    duration_ms integer,
    constraint webhook_deliveries_attempts_range CHECK (((attempts >= 0) AND (tries >= attempts))),
    constraint webhook_deliveries_pkey PRIMARY KEY (tenant_id, id),
    constraint webhook_deliveries_state_known CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'failed'::text, 'cancelled'::text]))),
    constraint webhook_deliveries_waiting_has_time CHECK (((state = 'waiting'::text) = (next_at IS NOT NULL))),
    constraint webhook_deliveries_webhook_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_age_idx ON public.webhook_deliveries USING btree (created_at);
CREATE INDEX webhook_deliveries_waiting_idx ON public.webhook_deliveries USING btree (next_at) WHERE (state = 'waiting'::text);
CREATE INDEX webhook_deliveries_webhook_idx ON public.webhook_deliveries USING btree (tenant_id, webhook_id, id DESC);
alter table webhook_deliveries enable row level security;
alter table webhook_deliveries force row level security;
create policy tenant_rows on webhook_deliveries for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on webhook_deliveries to patchbay_app;

create table webhooks (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    url text not null,
    kinds text[] not null default '{}'::text[],
    sealed bytea not null,
    rotating_until timestamp with time zone,
    enabled boolean not null default true,
    disabled_why text not null default ''::text,
    failures integer not null default 0,
    failing_since timestamp with time zone,
    delivered_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    updated_at timestamp with time zone not null default now(),
    format text not null default 'json'::text,
    constraint webhooks_disabled_why_known CHECK ((disabled_why = ANY (ARRAY[''::text, 'gone'::text, 'failing'::text]))),
    constraint webhooks_failing CHECK (((failures >= 0) AND ((failures = 0) = (failing_since IS NULL)))),
    constraint webhooks_format_known CHECK ((format = ANY (ARRAY['json'::text, 'slack'::text, 'teams'::text]))) NOT VALID,
    constraint webhooks_kinds_number CHECK ((cardinality(kinds) <= 50)),
    constraint webhooks_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    constraint webhooks_pkey PRIMARY KEY (tenant_id, id),
    constraint webhooks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    constraint webhooks_turned_off CHECK (((disabled_why = ''::text) OR (NOT enabled))),
    constraint webhooks_url_length CHECK (((length(url) >= 1) AND (length(url) <= 2048)))
);
CREATE TRIGGER sealed_by_a_living_key BEFORE INSERT OR UPDATE OF sealed ON public.webhooks FOR EACH ROW EXECUTE FUNCTION refuse_retired_key();
alter table webhooks enable row level security;
alter table webhooks force row level security;
create policy tenant_rows on webhooks for all using (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope))) with check (((tenant_id = ( SELECT tenant() AS tenant)) OR ( SELECT system_scope() AS system_scope)));
grant delete, insert, select, update on webhooks to patchbay_app;
