// Package archtest tests the structure: the floor of each package, allowed imports, and rules about source files that
// the compiler does not check.
//
// [Rooms] lists every package with its floor and its purpose. A package imports lower floors only, and no package of
// its own floor. A package without a row fails the test.
//
//	rooms.go     the list of packages
//	imports.go   floors: upward, sideways, missing
//	locks.go     libraries with few importers, and packages with few imports
//	source.go    files: doc.go, length, init, time.Sleep, HTTP clients made outside safehttp
//	clients.go   HTTP clients that share http.DefaultTransport
//	vocabulary.go  words that a newcomer would have to learn: how many each package has, under ceilings that only fall
//	query_vocabulary.go  the same for names and comments of queries
//	list.go      reads the tree with go list; no network
//
// The checks are plain functions over a list of packages, so that their own test can show each of them failing.
package archtest
