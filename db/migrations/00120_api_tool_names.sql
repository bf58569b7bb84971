-- +goose Up

-- The name of a picked operation's tool, which stays when a document changes the operation's id. Empty: as the stored document says.
alter table api_tools add column name text not null default '';
alter table api_tools add constraint api_tools_name_length check (length(name) <= 128) not valid;

-- +goose Down
alter table api_tools drop column name;
