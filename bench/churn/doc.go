// Package churn changes connectors while agents use them, and judges what the agents see.
//
// Admins create, sync, grant, revoke, rename, disable, delete and move connectors, and servers change their
// tools. Each connector has one admin, so that its states are in order. A journal records when each state was
// possible. Agents of both eras list and call. A list is right if it has exactly the tools of a state that was
// possible during the request, for each connector.
//
//	churn.go    options, the run, its report
//	journal.go  states of a connector, and when each was possible
//	admin.go    actions
//	agent.go    lists and calls, and their judgement
//	server.go   the MCP servers
package churn
