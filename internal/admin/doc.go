// Package admin serves the dashboard: it constructs the packages of its pages and mounts their routes.
//
// One package is one domain, with a Handler that has only the services that its pages use and a Mount that lists
// its routes with the role each needs. One action is one file of the same shape: read the form, call the service
// below, respond with a page or with 303 and a message.
//
//	list, show, new, …    pages: one read for the page → a pure view builder → a template
//	save, delete, …       forms: → a service below → 303, or the form again with its errors
//	view                  pure view builders: rows of the store → props of web/templates
//
// A page takes from the packages below it: shell ← calls ← tools ← agents, connectors ← accounts, catalog, signin ←
// people, settings ← home ← events.
//
// Pages work without script. The number of a page's queries does not depend on the number of rows.
//
// Rules are not here: manage and auth decide which change is legal, toolsync runs a sync, and respond maps a
// failure to a status.
package admin
