// Package pgtest gives each test a PostgreSQL database of its own, migrated and empty.
//
//	pgtest.URL(t)    the address, as the owner of the tables
//	pgtest.Pool(t)   connections as the runtime role, closed at the test's end
//	pgtest.Empty(t)  the address of a database without any table
//
// The first test of a binary that asks starts a private server, in memory where the machine has /dev/shm, without
// any care for crashes; it ends with the binary, however that ends, and so does its directory. The migrations run
// once, into a template; a test gets a copy in about 20 ms. No test waits for a drop. The cluster with its templates is kept in
// the user's cache directory, and copied by each binary.
//
// With TEST_DATABASE_URL set (a role that may create databases and roles) that server is used instead; several test
// binaries share it and its templates.
package pgtest
