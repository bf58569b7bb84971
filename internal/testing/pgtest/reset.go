package pgtest

import (
	"crypto/sha256"
	"encoding/hex"
)

// ResetQuery resets a database that Resettable gave. It returns false where the database cannot be used again. Its session
// has session_replication_role replica, which switches triggers off; a change of it would discard the session's plans.
const ResetQuery = "select fixture.reset()"

// resetSQL makes fixture.reset, which deletes all rows but those of the migrations and sets sequences back. It returns
// false if the migrations' rows or the schema are not what they were, or a session holds a lock. Each change of the schema
// gives rows of the catalogs another version (xmin); an event trigger says whether they have to be read. The deletes are
// statements of a function, so that a session plans them once. A table without a block has had no row, and its delete is
// not planned at all. An audit entry of an action in fixture.refused fails: a trigger of a test would discard plans.
const resetSQL = `
create schema fixture;

create function fixture.tables() returns setof text language sql as $$
	select format('%I.%I', n.nspname, c.relname)
	from pg_class c join pg_namespace n on n.oid = c.relnamespace
	where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition
	order by 1
$$;

create function fixture.state(name text) returns text language plpgsql as $$
declare found text;
begin
	execute format('select md5(string_agg(r::text, chr(10) order by r::text)) from %s r', name) into found;
	return found;
end $$;

create function fixture.shape() returns text language sql as $$
	select string_agg(concat_ws(' ', part, n, versions), ', ' order by part) from (
		select 'pg_class' as part, count(*) as n, sum(xmin::text::bigint) as versions from pg_class union all
		select 'pg_attribute' as part, count(*) as n, sum(xmin::text::bigint) as versions from pg_attribute union all
		select 'pg_attrdef' as part, count(*) as n, sum(xmin::text::bigint) as versions from pg_attrdef union all
		select 'pg_constraint' as part, count(*) as n, sum(xmin::text::bigint) as versions from pg_constraint union all
		select 'pg_index' as part, count(*) as n, sum(xmin::text::bigint) as versions from pg_index union all
		select 'pg_inherits' as part, count(*) as n, sum(xmin::text::bigint) as versions from pg_inherits union all
		select 'pg_policy' as part, count(*) as n, sum(xmin::text::bigint) as versions from pg_policy union all
		select 'pg_proc' as part, count(*) as n, sum(xmin::text::bigint) as versions from pg_proc union all
		select 'pg_trigger' as part, count(*) as n, sum(xmin::text::bigint) as versions from pg_trigger union all
		select 'pg_type' as part, count(*) as n, sum(xmin::text::bigint) as versions from pg_type
	) parts
$$;

create function fixture.settings() returns text language sql as $$
	select concat_ws(' ', count(*), sum(hashtext(concat_ws(',', setdatabase, setrole, setconfig))))
	from pg_db_role_setting where setdatabase in (0, (select oid from pg_database where datname = current_database()))
$$;

create table fixture.seeded as select name, fixture.state(name) as state from fixture.tables() name where fixture.state(name) is not null;
create table fixture.remembered (shape text, settings text);
create table fixture.changes (command text);
create table fixture.refused (action text);

create function fixture.refuse() returns trigger security definer language plpgsql as $$
begin
	if exists (select from fixture.refused where action in ('', new.action)) then
		raise 'the disk is full';
	end if;
	return new;
end $$;

create trigger fixture_refuse before insert on audit_events for each row execute function fixture.refuse();

do $do$ declare statements text; begin
	select string_agg(statement, chr(10)) into statements from (
		select format(case relkind when 'r' then 'if pg_relation_size(%L) > 0 then delete from %1$s; end if;' else 'delete from %1$s;' end, name) as statement
		from fixture.tables() name join pg_class on pg_class.oid = name::regclass where name not in (select name from fixture.seeded)
		union all
		select format('perform setval(%L, %s, false);', format('%I.%I', schemaname, sequencename), start_value)
		from pg_sequences where schemaname = 'public' and last_value is null
	) each;
	execute format('create function fixture.delete_rows() returns void language plpgsql as %L', 'begin ' || statements || ' end');
end $do$;

create function fixture.reset() returns boolean language plpgsql as $$
begin
	if current_setting('session_replication_role') <> 'replica' then
		raise 'the session has triggers';
	end if;
	if (select settings from fixture.remembered) is distinct from fixture.settings()
		or exists (select from pg_locks l where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())) then
		return false;
	end if;
	if exists (select from fixture.changes) then
		if (select shape from fixture.remembered) is distinct from fixture.shape() then
			return false;
		end if;
		delete from fixture.changes;
	end if;
	delete from fixture.refused;
	perform fixture.delete_rows();
	return not exists (select from fixture.seeded s where s.state is distinct from fixture.state(s.name));
end $$;

create function fixture.note_change() returns event_trigger security definer language plpgsql as $$
begin
	insert into fixture.changes values (tg_tag);
end $$;

create event trigger fixture_changes on ddl_command_end execute function fixture.note_change();
alter event trigger fixture_changes enable always;

insert into fixture.remembered select fixture.shape(), fixture.settings();
`

// resetFingerprint names resetSQL.
func resetFingerprint() string {
	sum := sha256.Sum256([]byte(resetSQL))
	return hex.EncodeToString(sum[:4])
}
