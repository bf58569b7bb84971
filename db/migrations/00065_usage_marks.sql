-- +goose Up

-- From when on the figures of a tenant's calls and syncs are counted that people are shown; no row: from the beginning. Nothing is deleted: what
-- the hour in which the mark lies had by then stands here, and is taken from what it has in the end. buckets, counts: of its durations.
create table usage_marks (
    tenant_id    uuid        not null references tenants (id) on delete cascade,
    since        timestamptz not null,
    hour         timestamptz not null,
    ok           integer     not null,
    failed       integer     not null,
    other        integer     not null,
    buckets      smallint[]  not null,
    counts       integer[]   not null,
    syncs_ok     integer     not null,
    syncs_failed integer     not null,
    constraint usage_marks_pkey primary key (tenant_id),
    constraint usage_marks_hour_of_since check (hour <= since and since < hour + interval '1 hour'),
    constraint usage_marks_one_count_a_bucket check (cardinality(buckets) = cardinality(counts))
);
alter table usage_marks enable row level security;
alter table usage_marks force row level security;
create policy tenant_rows on usage_marks using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
grant select, insert, update, delete on usage_marks to patchbay_app;

-- +goose Down
drop table usage_marks;
