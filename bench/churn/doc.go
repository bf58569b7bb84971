// Package churn puts administration and agents on a Patchbay that runs, at the same time, and judges what the agents are told.
//
// Admins create, sync, grant, revoke, rename, disable, delete and move connectors whose servers change their tools. Each connector is
// one admin's, so that its states follow each other, and a journal has when each of them was possible. Agents of both eras list and
// call. A list is right where it has, of each connector, exactly the tools of a state that was possible while it was asked for.
//
//	churn.go    options, the run and its report
//	journal.go  states of a connector, and when each was possible
//	admin.go    acts
//	agent.go    lists and calls, and how they are judged
//	server.go   the MCP servers
package churn
