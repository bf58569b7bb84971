-- +goose Up

-- sweep_id: the runs that were queued together, for all connectors of the tenant. Ids grow with time, so that the greatest is the
-- newest sweep. A run that waited already belongs to the sweep that came last.
alter table sync_runs add column sweep_id uuid;
create index sync_runs_sweep_idx on sync_runs (tenant_id, sweep_id) where sweep_id is not null;

-- +goose Down
drop index sync_runs_sweep_idx;
alter table sync_runs drop column sweep_id;
