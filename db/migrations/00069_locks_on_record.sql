-- +goose Up

-- When the audit logs of an account's tenants were told that this wrong password locked it. Null: it locked nothing, or nobody has looked yet.
alter table sign_in_failures add column told_at timestamptz;

-- +goose Down
alter table sign_in_failures drop column told_at;
