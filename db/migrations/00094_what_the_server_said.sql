-- +goose Up

-- What the server said when a sync or a call failed, redacted: {said, status, exit_status}, as connectors.Upstream.
-- Of calls as call_history says. Null: nothing, or the failure is not the server's.
alter table sync_runs add column upstream jsonb;
alter table sync_runs add constraint sync_runs_upstream_short check (octet_length(upstream ->> 'said') <= 2048) not valid;
alter table tool_calls add column upstream bytea;
alter table tool_calls add constraint tool_calls_upstream_short check (octet_length(upstream) <= 16384) not valid;

-- +goose Down
alter table tool_calls drop column upstream;
alter table sync_runs drop column upstream;
