// Package mcpadmin is Patchbay's own MCP server for admins' assistants, at /mcp/admin.
//
//	tools       list_connectors, add_connector, test_connector, sync_tools, connect_account, add_http_api, get_http_api, set_document,
//	            list_operations, pick_operations, save_endpoint, delete_endpoint, list_agents, set_tool_list, shorten_answers,
//	            explain_access, grant_tools, list_access_requests, ask_access, decide_access_request, withdraw_access_request, list_tool_changes,
//	            review_tool_change, list_tool_calls, decide_approval, get_usage_stats, reset_usage_stats, list_audit_events
//	resources   patchbay://connectors/{slug}, patchbay://agents/{slug}, patchbay://tools/{connector}/{name}
//	prompts     connect_a_service, investigate_failures, review_changes, least_privilege
//
// A request passes these steps:
//
//  1. handler.go: authentication by API key or a member's program token (auth.IdentifyBearer); a foreign
//     Origin is refused
//  2. rate limits of the key and the tenant, as for the JSON API
//  3. serve.Server reads the message; sessions are sealed into their ids, so any process serves any request
//  4. tool.go: the arguments are checked by the input schema, and the role by the tool's permission
//  5. confirm.go: destructive tools elicit a person's confirmation
//  6. inprocess.go: the tool calls the JSON API in the same process as the same actor; its refusals become
//     results (result.go)
//
// All rules are the API's: permissions, validation and the audit log, whose events have "via": "mcp".
//
// Texts of servers behind connectors, and names from registries and programs, are in members named untrusted,
// never in our own texts. Agents and their calls are served by package gateway.
package mcpadmin
