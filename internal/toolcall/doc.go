// Package toolcall performs one call of an agent, under policy.
//
// pipeline.go has the steps of [Executor.Call] in order. Each step is a type with its own state. A call that is refused is not
// sent:
//
//  1. authorizer: the tool is granted and served (authorize.go).
//  2. validator: the arguments match the accepted schema (validate.go).
//  3. callLimits: limits and quotas of agent, connector, tool and tenant allow it (limit*.go, quota*.go).
//  4. definitionAges: the definition of a destructive tool is young enough (definition_age.go).
//  5. approvals: a person approves, if required. The call waits as a row, which outlives this process (approval*.go).
//  6. callSender: the server's circuit is closed (breaker.go), a credential is cached or loaded (package upstream), and one
//     request goes out in an open session (upstream_call.go).
//  7. callRecorder: the result goes to the agent unchanged, and to the history (record.go).
//
// Around them, runningCalls knows the calls of this process (running.go). accountRequests asks for a missing account
// (account.go), multiRoundCalls lets a call span several requests (multiround*.go), taskRequests answers for tasks (task.go,
// and task_handshake.go for clients of 2025-11-25, which task_status.go notifies), requestSender sends other requests (request.go). canceller and sweeper end calls (cancel.go, sweep.go).
//
// A server runs a call as a task if it requires one (execution.taskSupport, 2025-11-25), if a client of that revision asks for
// one, or as it decides (2026-07-28). A client with tasks polls it; for others awaitTask does (task_await.go). Questions of
// 2025-11-25 come while tasks/result is open, those of 2026-07-28 in tasks/get, in any process (task_question.go). The id of a
// task is sealed for the agent. It holds the server's id and, for 2025-11-25, the server's session, in which any process goes on
// after a restart (task_session.go). Tasks are kept in the form of 2026-07-28. A result that a client of 2025-11-25 gets is
// stored sealed for ten minutes (task_result.go).
//
// Prompts and resources take the way of SendRequest: limits, breaker, history. ItemRefusal refuses what the grant does not include.
// In the mode always_ask_all they wait for approval first (item_approval.go).
//
// A call is sent once. It is sent a second time only if it certainly did not run (401 or 404 before processing), or if its tool
// allows it (readOnlyHint, idempotentHint) and the connection or session was lost. Of any other interrupted call the agent learns
// that its outcome is unknown.
//
// An answer that the grant shortens is kept whole for a day (result_shaping.go), and its parts are read as calls (answer_read.go).
// Answers of tasks stay whole.
//
// Errors for the model are a [*RefusalError]; invalid arguments are [*InvalidArgumentsError]; a server's JSON-RPC error is its *mcp.Error.
// Sentences never contain text of the server.
//
// Package gateway speaks MCP to agents; package agentview decides what an agent may call.
package toolcall
