// Package installation opens the installation of this machine: its database and its key, as its settings say.
//
//	database.go      opens the store, embedded or external, and migrates the schema
//	route.go         finds the database, with or without a pooler
//	key_source.go    the key that wraps all other keys: of PATCHBAY_KEYSET, or of a KMS
//	keyset.go        the file with that key
//	egress.go        where outbound requests may go, and which addresses are Patchbay's own
//	catalog.go       the servers of the catalog, with the operator's own
//	programs.go      the programs that connectors may start
//
// The server and the commands of its operator share it.
package installation
