-- +goose Up

-- A program's request for a sign-in is longer than most addresses: its state and its redirect URI alone may be 3 500 characters, before they
-- are encoded. Who signs in elsewhere on the way comes back to all of it.
alter table sso_flows drop constraint sso_flows_return_to_length;
alter table sso_flows add constraint sso_flows_return_to_length check (length(return_to) <= 8192);

-- missed: nobody listened for a while after the stream was last open, and no sync has been asked for since. Whoever opens the next one has the
-- lists read.
alter table upstream_listeners add column missed boolean not null default false;

-- +goose Down
alter table upstream_listeners drop column missed;
alter table sso_flows drop constraint sso_flows_return_to_length;
alter table sso_flows add constraint sso_flows_return_to_length check (length(return_to) <= 2048) not valid;
