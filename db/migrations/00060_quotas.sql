-- +goose Up

-- How often something may be called, in a minute and in a day (UTC); 0 is no bound. A tool's quota is its admins', a tenant's its owner's. most_…: the
-- operator's, of the whole tenant, which the owner's is never above in effect.
alter table tools
    add column calls_per_minute integer not null default 0,
    add column calls_per_day integer not null default 0,
    add constraint tools_quota_range check (calls_per_minute between 0 and 1000000 and calls_per_day between 0 and 1000000000);
alter table tenants
    add column calls_per_minute integer not null default 0,
    add column calls_per_day integer not null default 0,
    add column most_calls_per_minute integer not null default 0,
    add column most_calls_per_day integer not null default 0,
    add constraint tenants_quota_range check (
        calls_per_minute between 0 and 1000000 and calls_per_day between 0 and 1000000000
        and most_calls_per_minute between 0 and 1000000 and most_calls_per_day between 0 and 1000000000);

-- The calls of each day (UTC) under a quota, of all processes together: each adds what it let through, and what it refused because of the minute's
-- or of the day's bound. connector_id and tool: 00000000-0000-0000-0000-000000000000 and empty where it is the tenant's quota. What has no quota has no
-- row. The connector is no foreign key: what is gone is forgotten with its day.
create table quota_days (
    tenant_id    uuid   not null references tenants (id) on delete cascade,
    day          date   not null,
    connector_id uuid   not null,
    tool         text   not null,
    calls        bigint not null,
    over_minute  bigint not null,
    over_day     bigint not null,
    constraint quota_days_pkey primary key (tenant_id, day, connector_id, tool)
) with (fillfactor = 70);
create index quota_days_age_idx on quota_days (day);
alter table quota_days enable row level security;
alter table quota_days force row level security;
create policy tenant_rows on quota_days using (tenant_id = tenant() or system_scope()) with check (tenant_id = tenant() or system_scope());
grant select, insert, update, delete on quota_days to patchbay_app;

-- +goose Down
drop table quota_days;
alter table tenants drop column most_calls_per_day, drop column most_calls_per_minute, drop column calls_per_day, drop column calls_per_minute;
alter table tools drop column calls_per_day, drop column calls_per_minute;
