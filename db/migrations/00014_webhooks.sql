-- +goose Up

-- What people should know: a line below the dashboard's bell, and what webhooks are told. link: a path of the dashboard. subject_key:
-- what it is about; the same thing again, while nobody has read of it, is counted in times and not told again. data: for programs.
create table notices (
    tenant_id   uuid        not null references tenants (id) on delete cascade,
    id          uuid        not null,
    at          timestamptz not null default now(),
    kind        text        not null,
    title       text        not null,
    body        text        not null default '',
    link        text        not null default '',
    subject_key text        not null default '',
    data        jsonb       not null default '{}',
    times       integer     not null default 1,
    constraint notices_pkey primary key (tenant_id, id),
    constraint notices_kind_form check (kind ~ '^[a-z_]+(\.[a-z_]+)+$'),
    constraint notices_link_is_a_path check (link = '' or (link like '/%' and link not like '//%' and link !~ '[\\[:space:]]'))
);
create index notices_subject_idx on notices (tenant_id, subject_key, at desc) where subject_key <> '';
create index notices_age_idx on notices (at);

-- Who has read a notice. What was said before somebody came is not theirs to read.
create table notice_reads (
    tenant_id uuid        not null,
    notice_id uuid        not null,
    user_id   uuid        not null,
    read_at   timestamptz not null default now(),
    constraint notice_reads_pkey primary key (tenant_id, notice_id, user_id),
    constraint notice_reads_notice_fkey foreign key (tenant_id, notice_id) references notices (tenant_id, id) on delete cascade,
    constraint notice_reads_member_fkey foreign key (tenant_id, user_id) references memberships (tenant_id, user_id) on delete cascade
);
create index notice_reads_member_idx on notice_reads (tenant_id, user_id);

-- Who is told of notices over HTTP. kinds: of which; empty: of all. sealed: the secrets that sign, the newest first, and until when those
-- before it do. failures: tries since the last success. disabled_why: what made Patchbay turn it off; empty: nothing did.
create table webhooks (
    tenant_id      uuid        not null references tenants (id) on delete cascade,
    id             uuid        not null,
    name           text        not null,
    url            text        not null,
    kinds          text[]      not null default '{}',
    sealed         bytea       not null,
    rotating_until timestamptz,
    enabled        boolean     not null default true,
    disabled_why   text        not null default '',
    failures       integer     not null default 0,
    failing_since  timestamptz,
    delivered_at   timestamptz,
    created_at     timestamptz not null default now(),
    updated_at     timestamptz not null default now(),
    constraint webhooks_pkey primary key (tenant_id, id),
    constraint webhooks_name_length check (length(name) between 1 and 100),
    constraint webhooks_url_length check (length(url) between 1 and 2048),
    constraint webhooks_kinds_number check (cardinality(kinds) <= 50),
    constraint webhooks_disabled_why_known check (disabled_why in ('', 'gone', 'failing')),
    constraint webhooks_turned_off check (disabled_why = '' or not enabled),
    constraint webhooks_failing check (failures >= 0 and (failures = 0) = (failing_since is null))
);

-- One notice for one webhook; id is what its receiver sees, the same at each try. body: what is sent, byte for byte but for the address
-- of the dashboard. next_at: when it is tried next, or tried again should the process that tries it die. tries: in all; attempts: since
-- it was last asked for. status: HTTP's; null: there was no answer. error: a sentence of ours.
create table webhook_deliveries (
    tenant_id   uuid        not null,
    id          uuid        not null,
    webhook_id  uuid        not null,
    notice_id   uuid,
    kind        text        not null,
    body        jsonb       not null,
    state       text        not null default 'waiting',
    attempts    integer     not null default 0,
    tries       integer     not null default 0,
    created_at  timestamptz not null default now(),
    next_at     timestamptz,
    tried_at    timestamptz,
    status      integer,
    error       text        not null default '',
    duration_ms integer,
    constraint webhook_deliveries_pkey primary key (tenant_id, id),
    constraint webhook_deliveries_webhook_fkey foreign key (tenant_id, webhook_id) references webhooks (tenant_id, id) on delete cascade,
    constraint webhook_deliveries_state_known check (state in ('waiting', 'delivered', 'failed', 'cancelled')),
    constraint webhook_deliveries_waiting_has_time check ((state = 'waiting') = (next_at is not null)),
    constraint webhook_deliveries_attempts_range check (attempts >= 0 and tries >= attempts)
);
create index webhook_deliveries_webhook_idx on webhook_deliveries (tenant_id, webhook_id, id desc);
create index webhook_deliveries_waiting_idx on webhook_deliveries (next_at) where state = 'waiting';
create index webhook_deliveries_age_idx on webhook_deliveries (created_at);

-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['notices', 'notice_reads', 'webhooks', 'webhook_deliveries'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_rows on %I using (tenant_id = tenant() or system_scope())
                        with check (tenant_id = tenant() or system_scope())', t);
    end loop;
end $$;
-- +goose StatementEnd
grant select, insert, update, delete on notices, notice_reads, webhooks, webhook_deliveries to patchbay_app;
create trigger sealed_by_a_living_key before insert or update of sealed on webhooks
    for each row execute function refuse_retired_key();

-- +goose Down
drop table webhook_deliveries;
drop table webhooks;
drop table notice_reads;
drop table notices;
