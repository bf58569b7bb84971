// Command chaos runs several processes of Patchbay over a PostgreSQL of its own, puts load on every door, and lets everything around them go wrong
// meanwhile. Then it counts what was lost.
//
//	make chaos                            ten minutes at most; CHAOS_TIME=1m for a shorter one
//	chaos [-time 6m] [-replicas 3]        the same
//
//	main.go      flags, and the order of a run
//	world.go     what runs: PostgreSQL, replicas, servers, tenants
//	leftovers.go what killed runs have left is taken away by the next
//	engine.go    PostgreSQL on a small filesystem of its own: killed, restarted, full, without a free connection
//	cable.go     what lies between the program and PostgreSQL: slow, still, cut
//	upstream.go  MCP servers that flap, drip and lie, and count every call; protected ones stand behind oauthtest's authorization server
//	clock.go     builds the program with a clock that can be moved, and moves it
//	front.go     the address that people use: it leads to one process or another
//	provider.go  an OpenID provider of the tenants' people, which fails, forgets and takes people for others
//	load.go      who asks: agents, programs, people, webhooks' receivers
//	sessions.go  agents of the handshake era, whose sessions outlive processes
//	programs.go  programs that sign in at the gateway, renew their tokens, and end; programs_end.go what became of them
//	assistant.go an admin's assistant at /mcp/admin
//	churn.go     admins who change connectors, and agents whose lists are judged (bench/churn)
//	signins.go   people who sign in at their organisation's provider
//	faults.go    what goes wrong, and when
//	ledger.go    what was acknowledged, held against what is there at the end
//	chains.go    the chains of the audit log and of how calls ended, computed anew and held against the history
//	search.go    looks for secrets and for other tenants' marks in all that was said and stored
//	report.go    the table, and whether anything in it is not as it must be
//
// It uses the program by its doors alone. The clock of the machine stays as it is: those of the processes jump.
package main
