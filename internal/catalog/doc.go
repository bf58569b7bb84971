// Package catalog lists well-known remote MCP servers: address, authentication, publisher.
//
//	catalog.yaml    the built-in servers, embedded; each fact with its source and date
//	an own file     the operator's, of the same schema ([Catalog.With]): adds, replaces and hides servers
//
// read.go is strict: unknown fields, values of another type and entries that make no valid connector are
// refused with line and field (check.go). [Entry.Draft] makes a connector by the rules for entered ones. An
// icon is a monogram on one of twelve [Colours], no logo.
//
// Package manage knows the servers that a tenant has. Package clientconfig reads the lists of MCP registries.
package catalog
