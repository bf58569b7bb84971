-- +goose Up

-- Where people are signed in, a row for each browser; its id stands in the data of the browser's session (the table sessions) and lets nobody
-- in by itself. A session whose row is gone ends with its next request. seen_at: its last use, to within a minute; address: where that came
-- from. A program that knows nothing of this table goes on with its sessions alone.
create table browser_sessions (
    id         uuid        not null,
    user_id    uuid        not null references users (id) on delete cascade,
    user_agent text        not null default '',
    address    text        not null default '',
    began_at   timestamptz not null,
    seen_at    timestamptz not null,
    constraint browser_sessions_pkey primary key (id),
    constraint browser_sessions_user_agent_length check (length(user_agent) <= 400),
    constraint browser_sessions_address_length check (length(address) <= 400)
);
create index browser_sessions_user_id_idx on browser_sessions (user_id);
create index browser_sessions_began_at_idx on browser_sessions (began_at);

-- A tenant reaches those of its members, whom the lock of memberships lets it see.
alter table browser_sessions enable row level security;
alter table browser_sessions force row level security;
create policy member_rows on browser_sessions
    using ((select system_scope()) or user_id in (select memberships.user_id from memberships))
    with check ((select system_scope()));
grant select, insert, update, delete on browser_sessions to patchbay_app;

-- +goose Down
drop table browser_sessions;
