-- +goose Up

-- When a connector that was synced is due again: after its interval, a twentieth sooner or later, so that those that were synced together
-- are not due together for ever. Moments are five seconds apart (of intervals from a minute on): what comes together costs a fraction of what comes
-- one by one. Null: never.
-- +goose StatementBegin
create function next_due(interval_s integer) returns timestamptz
    language sql volatile
as $$ select case when interval_s >= 60 then date_bin(interval '5 seconds', at, timestamptz 'epoch') else at end
      from (select now() + nullif(interval_s, 0) * (0.95 + 0.1 * random()) * interval '1 second' as at) _ $$;
-- +goose StatementEnd

-- +goose Down
drop function next_due(integer);
