-- +goose Up

-- What a webhook is sent: our own JSON, or the message of a chat.
alter table webhooks add column format text not null default 'json';
alter table webhooks add constraint webhooks_format_known check (format in ('json', 'slack', 'teams')) not valid;

-- +goose Down
alter table webhooks drop column format;
