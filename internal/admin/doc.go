// Package admin is the browser's door: the dashboard's routes, forms and views.
//
// One action is one file, and each has the same shape: read the form, ask the room that knows, answer with a page or with
// 303 and a sentence. [Handler.Mount] lists all routes with the least role that each needs.
//
//	*_list, *_show, *_new ...   pages: one read shaped for the page → a pure view builder → a template
//	*_save, *_delete, …         forms: → a room below → 303, or the form again with what is wrong
//	*_view                      pure view builders: rows of the store → props of web/templates
//	connect_*, oauth_callback   accounts: away to an authorization server, and back
//	catalog_*, listing_*        servers to choose from: the catalog's, and those that an MCP registry lists
//	event*                      the streams that refresh a page that stands already
//	schema*, tool_form*         pure: a tool's input schema → a form → arguments, and back
//	result_view                 pure: what a tool answered, all of it remote text, by the types of its blocks
//
// Pages work without script. A page issues the same number of queries whatever it lists.
//
// What it is not for: rules. Which change is legal is decided in registry and auth, how a sync goes in toolsync; which
// status a failure has in respond.
package admin
