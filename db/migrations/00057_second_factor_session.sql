-- +goose Up

-- A key that is being set up is the session's that began it, and nobody else sees it: whoever knows a password could otherwise lay a key of
-- their own out for the person to confirm. Null: begun by a program from before, and seen by nobody.
alter table second_factors add column begun_by uuid;

-- Wrong codes since the last right one, whoever gave them and whenever: people mistype a few, who tries codes out needs hundreds of thousands.
alter table second_factors add column wrong_codes integer not null default 0;

-- +goose Down
alter table second_factors drop column wrong_codes;
alter table second_factors drop column begun_by;
