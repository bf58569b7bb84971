// Package postgres runs Patchbay's own PostgreSQL where no DATABASE_URL is given: it finds the machine's binaries,
// makes a cluster below the data directory, starts it as a child, heals it, adopts it after a crash and stops it.
//
//	DIR/postgres.lock       flock: one process runs the cluster; says which, and whether it is a server or a command
//	DIR/postgres.users      shared flock of commands that borrow a cluster which another command started
//	DIR/postgres/data       the cluster; made beside its place and renamed when whole, never deleted
//	DIR/postgres/run        the Unix socket (below /tmp where this path is too long for a socket)
//	DIR/postgres/log        what PostgreSQL prints
//
// [Start] is for the server, [Attach] for every other command. There is no port and no password: the directory is
// open to one user only. PostgreSQL refuses to run as root, so root hands it to the user postgres or nobody, or to a
// user namespace where neither can reach the directory.
//
// What happens when somebody dies: the server's death interrupts PostgreSQL (a death signal on Linux) and the next
// start waits for its end or stops it; PostgreSQL's death is healed by [Cluster] within seconds; after the death of
// both the next start recovers the cluster from its log.
//
// It is not for an external PostgreSQL, and it knows nothing of the schema: that is package db.
package postgres
