// Package mcpadmin is the door for an admin's assistant: Patchbay as an MCP server about itself, at /mcp/admin.
//
//	tools       list_connectors, add_connector, test_connector, sync_tools, connect_account, list_agents, explain_access, grant_tools,
//	            list_tool_changes, review_tool_change, list_tool_calls, decide_approval, get_usage_stats, reset_usage_stats,
//	            list_audit_events
//	resources   patchbay://connectors/{slug}, patchbay://agents/{slug}, patchbay://tools/{connector}/{name}
//	prompts     connect_a_service, investigate_failures, review_changes, least_privilege
//
// A request goes this way:
//
//  1. an API key says who calls, or the token of a program that acts as a member (auth.IdentifyProgram); a page of another site is refused
//  2. it counts against the pace of the key and of the tenant, as a request of the JSON API does
//  3. serve.Server reads the message, whatever era it is of; sessions are sealed into their ids, so that any process serves any request
//  4. a tool's arguments are held against its input schema, and the caller's role against the tool's
//  5. what destroys something asks a person first, through the client (confirm.go)
//  6. the tool asks the JSON API, in the same process and as the same caller (inside.go): what that refuses is refused here, in its words
//
// So there are no rules here: who may what, what is valid, and what stands in the audit log is the API's. An event says "via": "mcp".
//
// What servers behind connectors wrote (names, descriptions, instructions, results) stands in members named untrusted, never in a text of ours;
// and so do names and descriptions that a registry or a program that signed in may have given.
//
// What it is not for: agents and their calls (package gateway).
package mcpadmin
