-- +goose Up

-- What a server said when an account failed or ended, and about what a notice tells, redacted: {said, status,
-- exit_status}, as connectors.Upstream. Null: nothing. Webhooks do not get it.
alter table credentials add column upstream jsonb;
alter table credentials add constraint credentials_upstream_short check (octet_length(upstream ->> 'said') <= 2048) not valid;
alter table notices add column upstream jsonb;
alter table notices add constraint notices_upstream_short check (octet_length(upstream ->> 'said') <= 2048) not valid;

-- +goose Down
alter table notices drop column upstream;
alter table credentials drop column upstream;
