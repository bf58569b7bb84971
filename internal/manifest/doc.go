// Package manifest holds an installation to a file: which connectors, agents and grants there are to be.
//
//	read.go       the file, in YAML, checked before anything is asked
//	reference.go  where secrets come from: variables and files, never the manifest itself
//	state.go      what the installation has, by its API
//	tools.go      what is said of connectors' tools
//	fields.go     what differs between two documents
//	plan.go       the steps from what is to what is to be; each can be done
//	write.go      a file that says what the installation has, to begin with
//
// Connectors and agents have the API's own fields, and only those that the file names are looked at: what somebody else keeps is left alone.
// What an agent was granted is kept whole where the file says anything of it. Whatever the file does not name stays, unless it is to be pruned.
//
// Secrets are compared by the installation, which tells whether they are the same and nothing else.
package manifest
