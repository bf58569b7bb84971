// Package catalog knows well-known remote MCP servers: where they are, how one signs in, who makes them.
//
//	catalog.yaml    what Patchbay offers by itself, embedded; every fact with the page where it was read, and when
//	an own file     the operator's, of the same schema ([Catalog.With]): more servers, others in the place of ours, some hidden
//
// [Read] is strict: a field that is not known, a value of another type and an entry that would make no connector are refused, each
// with its line and its field. An [Entry] becomes a connector by [Entry.Draft], under the same rules as one that a person types.
// Its picture is a monogram of ours on one of twelve [Colours]: nobody's logo.
//
// What it is not for: knowing which of them a tenant has (package registry), and lists that others publish (package mcpjson).
package catalog
