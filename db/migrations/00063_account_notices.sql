-- +goose Up

-- A call waits, or a client listens, in whatever process.
create trigger say_account_change after update on account_requests
    for each row when (old.connected_at is null and new.connected_at is not null) execute function say_change('account', 'tenant_id', 'agent_id');

-- +goose Down
drop trigger say_account_change on account_requests;
