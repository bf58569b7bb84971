-- +goose Up

-- The operations that the document had when a person picked last. Others are marked as new.
alter table api_documents add column seen text[] not null default '{}';

-- +goose Down
alter table api_documents drop column seen;
