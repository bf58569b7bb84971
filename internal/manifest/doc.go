// Package manifest makes an installation match a file of connectors, agents and grants.
//
//	read.go       parses and validates the YAML file, before any request
//	reference.go  resolves secrets from variables and files; the manifest has none
//	state.go      reads the installation's state by its API
//	tools.go      settings of connectors' tools
//	shaping.go    how answers of a grant's tools are shortened
//	fields.go     compares two documents
//	plan.go       computes the steps from the state to the file
//	write.go      writes a file for an existing installation
//
// Connectors and agents have the API's fields. Only fields in the file are compared and changed; others stay.
// An agent's grants are replaced as a whole if the file has any; their prompts, resources, pinned tools and shortened answers stay
// unless the file has them. Entries missing from the file stay unless pruned.
//
// The installation compares secrets and reports only whether they are equal.
package manifest
