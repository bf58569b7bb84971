-- +goose Up

alter table connectors
    add column retry_backoff_ms integer not null default 250 check (retry_backoff_ms between 50 and 10000),
    add column connect_timeout_ms integer not null default 10000 check (connect_timeout_ms between 100 and 60000),
    add column max_response_bytes integer not null default 8388608 check (max_response_bytes between 65536 and 8388608),
    add column stream_reconnects integer not null default 5 check (stream_reconnects between 0 and 100);

-- +goose Down
alter table connectors
    drop column retry_backoff_ms,
    drop column connect_timeout_ms,
    drop column max_response_bytes,
    drop column stream_reconnects;
