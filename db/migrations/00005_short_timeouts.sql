-- +goose Up

-- A server next door answers in milliseconds, or not at all: who wants to know soon may say so.
alter table connectors
    drop constraint connectors_timeout_range,
    add constraint connectors_timeout_range check (timeout_ms between 100 and 300000);

-- +goose Down
update connectors set timeout_ms = 1000 where timeout_ms < 1000;
alter table connectors
    drop constraint connectors_timeout_range,
    add constraint connectors_timeout_range check (timeout_ms between 1000 and 300000);
