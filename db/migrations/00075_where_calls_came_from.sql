-- +goose Up

-- Where a call came from, and with which request, as audit_events has both. Null: of before this, or a server of the release before wrote it.
alter table tool_calls
    add column address text,
    add column request_id text;

-- Both are on record of how a call ended (00058): a link has two columns more behind the others. Links of before have 22, and of their calls both
-- are null: internal/store/outcome_body.go reads either form. Else the functions are as they were.
-- +goose StatementBegin
do $do$
declare
    packed text := $p$(
        (array_send(array_agg(c.id)) || array_send(array_agg(c.agent_id)) || array_send(array_agg(c.agent_slug)) || array_send(array_agg(c.connector_id)))
        || (array_send(array_agg(c.connector_slug)) || array_send(array_agg(c.kind)) || array_send(array_agg(c.tool)) || array_send(array_agg(c.source)))
        || ((array_send(array_agg(c.caller)) || array_send(array_agg(c.token_id)) || array_send(array_agg(c.credential_id)) || array_send(array_agg(c.definition_hash)))
        || (array_send(array_agg(c.status)) || array_send(array_agg(c.outcome)) || array_send(array_agg(c.error_code)) || array_send(array_agg(c.is_error))))
        || ((array_send(array_agg(c.approved_by)) || array_send(array_agg(c.request_bytes)) || array_send(array_agg(c.response_bytes)))
        || (array_send(array_agg(c.started_at)) || array_send(array_agg(c.completed_at)) || array_send(array_agg(c.duration_us))))
        || (array_send(array_agg(c.address)) || array_send(array_agg(c.request_id))))$p$;
begin
    execute format($f$
        create or replace function note_calls() returns trigger
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
                       c.started_at, c.completed_at, c.duration_us, c.address, c.request_id)
                      is distinct from
                      (o.agent_id, o.agent_slug, o.connector_id, o.connector_slug, o.kind, o.tool, o.source, o.caller, o.token_id, o.credential_id,
                       o.definition_hash, o.status, o.outcome, o.error_code, o.is_error, o.approved_by, o.request_bytes, o.response_bytes,
                       o.started_at, o.completed_at, o.duration_us, o.address, o.request_id)
                group by c.tenant_id
            ) those
            having count(*) > 0;
            return null;
        end $$;
    $f$, packed);
    -- What the functions had was set by their owner, and is replaced with them.
    execute format('alter function note_calls() set search_path = %I, pg_temp', current_schema());
    execute format('alter function note_changed_calls() set search_path = %I, pg_temp', current_schema());
    alter function note_changed_calls() set enable_nestloop = off;
    alter function note_calls() set client_encoding = 'UTF8';
    alter function note_changed_calls() set client_encoding = 'UTF8';
end $do$;
-- +goose StatementEnd

-- +goose Down
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
        create or replace function note_calls() returns trigger
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
    -- What the functions had was set by their owner, and is replaced with them.
    execute format('alter function note_calls() set search_path = %I, pg_temp', current_schema());
    execute format('alter function note_changed_calls() set search_path = %I, pg_temp', current_schema());
    alter function note_changed_calls() set enable_nestloop = off;
    alter function note_calls() set client_encoding = 'UTF8';
    alter function note_changed_calls() set client_encoding = 'UTF8';
end $do$;
-- +goose StatementEnd
alter table tool_calls
    drop column address,
    drop column request_id;
