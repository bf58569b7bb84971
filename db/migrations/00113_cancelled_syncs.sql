-- +goose Up

-- A person can cancel a sync run.
alter table sync_runs add column cancelled_by text;
alter table sync_runs
    drop constraint sync_runs_state_known,
    drop constraint sync_runs_ended_has_end;
alter table sync_runs
    add constraint sync_runs_state_known check (state in ('queued', 'running', 'ok', 'error', 'cancelled')) not valid,
    add constraint sync_runs_ended_has_end check ((state in ('ok', 'error', 'cancelled')) = (finished_at is not null)) not valid,
    add constraint sync_runs_cancelled_by check ((state = 'cancelled') = (cancelled_by is not null)) not valid;

-- +goose Down
delete from sync_runs where state = 'cancelled';
alter table sync_runs
    drop constraint sync_runs_cancelled_by,
    drop constraint sync_runs_state_known,
    drop constraint sync_runs_ended_has_end;
alter table sync_runs
    add constraint sync_runs_state_known check (state in ('queued', 'running', 'ok', 'error')) not valid,
    add constraint sync_runs_ended_has_end check ((state in ('ok', 'error')) = (finished_at is not null)) not valid;
alter table sync_runs drop column cancelled_by;
