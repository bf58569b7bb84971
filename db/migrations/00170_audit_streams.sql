-- +goose Up

-- Each link of call outcomes has the number of records in the links before, so that streams number records without a gap.
-- Links written before this migration have none. A link of kind removed is one record.
alter table call_outcome_heads add column records bigint not null default 0;
alter table call_outcomes add column records_before bigint;

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
end $$;
-- +goose StatementEnd

-- Streams of audit entries and call outcomes to a receiver. The cursor is the last delivered entry of the audit chain, the last
-- delivered link of call outcomes, and the last delivered record, which may be within the next link.
create table audit_streams (
    tenant_id     uuid not null,
    id            uuid not null,
    name          text not null,
    kind          text not null,
    url           text not null,
    format        text not null,
    header        text not null default '',
    ca            text not null default '',
    origin        text not null, -- the secret is bound to it
    sealed        bytea,
    enabled       boolean not null default true,
    disabled_why  text not null default '',
    audit_n       bigint not null,
    audit_hash    bytea not null,
    calls_n       bigint not null,
    calls_hash    bytea not null,
    calls_record  bigint not null,
    lease         uuid, -- of the process that sends; null: none
    leased_until  timestamptz,
    next_at       timestamptz not null default now(),
    failures      integer not null default 0, -- in a row
    refusals      integer not null default 0, -- in a row, of those
    failing_since timestamptz,
    last_error    text not null default '',
    delivered_at  timestamptz,
    gap           text not null default '', -- the last records that were removed undelivered
    gap_at        timestamptz,
    created_at    timestamptz not null default now(),
    updated_at    timestamptz not null default now(),
    constraint audit_streams_pkey primary key (tenant_id, id),
    constraint audit_streams_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade,
    constraint audit_streams_name_length check (length(name) between 1 and 100),
    constraint audit_streams_kind_known check (kind in ('https', 'syslog')),
    constraint audit_streams_format_known check (format in ('ndjson', 'json', 'syslog')),
    constraint audit_streams_disabled_why_known check (disabled_why in ('', 'gone', 'refused')),
    constraint audit_streams_lengths check (length(url) between 1 and 2048 and length(header) <= 100 and length(ca) <= 65536),
    constraint audit_streams_hash_length check (octet_length(audit_hash) = 32 and octet_length(calls_hash) = 32),
    constraint audit_streams_leased check ((lease is null) = (leased_until is null))
);
create index audit_streams_due_idx on audit_streams (next_at) where enabled;
create trigger sealed_by_a_living_key before insert or update of sealed on audit_streams for each row when (new.sealed is not null)
    execute function refuse_retired_key();
create policy tenant_rows on audit_streams using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table audit_streams enable row level security;
alter table audit_streams force row level security;
grant select, insert, update, delete on audit_streams to patchbay_app;

-- +goose Down
drop table audit_streams;
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
alter table call_outcomes drop column records_before;
alter table call_outcome_heads drop column records;
