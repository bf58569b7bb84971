// Command chaos runs several processes of Patchbay with a PostgreSQL, and injects faults under load. Then it verifies that nothing
// was lost.
//
//	make chaos                            ten minutes at most; CHAOS_TIME=1m for a shorter one
//	chaos [-time 6m] [-replicas 3]        the same
//
//	main.go, world.go           flags, setup, and the order of a run
//	run_home.go                 removes what killed runs have left
//	database.go, db_proxy.go    PostgreSQL on a small filesystem: killed, full, exhausted, slow, cut off
//	mcp_servers.go              MCP servers that fail in several ways and count calls
//	clock.go                    builds the program with a clock that can jump
//	load_balancer.go            the public address, in front of the processes
//	id_provider.go, signins.go  an OpenID provider, and sign-ins by it
//	load.go, sessions.go        agents, API and dashboard users, webhooks; agents with sessions (2025-11-25)
//	programs*.go                OAuth clients that sign in, refresh and end, and their verification
//	admin_assistant.go          an admin's assistant at /mcp/admin
//	churn.go                    admins and agents of package churn
//	faults.go                   the faults and their order
//	ledger.go, chains.go        verification: acknowledged writes, hash chains
//	search.go                   search for secrets and other tenants' marks
//	tally.go, report.go         the counts and the tables
//
// It uses the program only through its interfaces. The machine's clock does not change.
package main
