// Package db holds the schema: the migrations, embedded, and what brings a database to them.
//
//	migrations/  goose: the baseline, and what follows it from number 90 on; never edited once released
//	queries/     what sqlc reads; only package store sees the generated code
//	schema.sql   the whole schema, dumped, for reading; a test holds it against the migrations
//
// [Migrate] is called by every start and by `patchbay migrate`; any number of processes may call it at once. It makes
// the runtime role [AppRole] too, and says which statements an administrator has to run where it may not.
// [OpenPool] opens the connections that the program works with: as that role, which owns nothing and for which
// row-level security always holds.
//
// It is not the place for queries: those are package store's.
package db
