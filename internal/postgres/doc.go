// Package postgres runs an embedded PostgreSQL if there is no DATABASE_URL. It finds the machine's binaries
// (binaries.go), creates a cluster below the data directory (initdb.go), starts it as a child (cluster.go),
// restarts it (supervise.go), cleans up after a crash (orphan.go) and stops it (process.go).
//
//	DIR/postgres.lock       flock: one process runs the cluster; names the process, and whether it is a server or a command
//	DIR/postgres.users      shared flock of commands that use a cluster which another command started
//	DIR/postgres/data       the cluster; created under another name and renamed when complete, never deleted
//	DIR/postgres/run        the Unix socket (below /tmp if this path is too long for a socket)
//	DIR/postgres/log        PostgreSQL's log
//
// [Start] is for the server, [Attach] for every other command. There is no port and no password: only one OS
// user can enter the directory. PostgreSQL refuses to run as root, so root runs it as postgres or nobody, or in
// a user namespace if neither can reach the directory (identity.go).
//
// After the server's death a death signal stops PostgreSQL (on Linux), and the next start waits for its end or
// stops it. After PostgreSQL's death [Cluster] restarts it within seconds. After both, the next start recovers
// from the WAL.
//
// The package knows neither an external PostgreSQL nor the schema: that is package db.
package postgres
