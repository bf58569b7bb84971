// Package churn changes connectors while agents use them, and judges what the agents see.
//
// Admins create, sync, grant, revoke, rename, disable, delete and move connectors, and servers change their
// lists. Each connector has one admin, so that its states are in order. A journal records when each state was
// possible. Agents of both eras call, and list tools, prompts, resources and templates at /mcp and at
// /mcp/{connector}. A list is right if it has exactly the entries of a state that was possible during the
// request. Outside outages each request must have a response, and each call that a connector's only state
// allows must succeed. A run must do enough of each kind for its length.
//
//	churn.go    options, the run, its report
//	outages.go  when requests may fail
//	journal.go  states of a connector, and when each was possible
//	admin.go    actions
//	lists.go    MCP's lists, as servers write them and agents see them
//	agent.go    lists and calls
//	judge.go    their judgement
//	server.go   the MCP servers
package churn
