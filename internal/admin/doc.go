// Package admin serves the dashboard: its routes, forms and pages.
//
// One action is one file of the same shape: read the form, call the service below, respond with a page or with
// 303 and a message. [Handler.Mount] lists all routes with the role each needs.
//
//	*_list, *_show, *_new, …    pages: one read for the page → a pure view builder → a template
//	*_save, *_delete, …         forms: → a service below → 303, or the form again with its errors
//	*_view                      pure view builders: rows of the store → props of web/templates
//	confirm*                    the password before a dangerous action; confirm_rules.go has a row per route
//	connect_*, oauth_callback   accounts: to an authorization server, and back
//	catalog_*, listing_*        servers to choose from: the catalog's, and those of an MCP registry
//	event*                      event streams that update an open page
//	schema*, tool_form*         pure: a tool's input schema → a form → arguments, and back
//	result_view                 pure: a tool's result, all of it remote text, by the types of its blocks
//	table_*                     the tables as CSV and JSON files
//
// Pages work without script. The number of a page's queries does not depend on the number of rows.
//
// Rules are not here: manage and auth decide which change is legal, toolsync runs a sync, and respond maps a
// failure to a status.
package admin
