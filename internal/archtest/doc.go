// Package archtest holds the house to its plan: which package stands on which floor, who may import what, and the few
// rules about source files that a compiler does not know.
//
// Newcomers read [Rooms]: every package, its floor, and one sentence about it. A package imports lower floors only, and
// neighbours on a floor do not see each other. A new package gets a row there first; without one the test fails.
//
//	rooms.go     the list of packages
//	imports.go   floors: upward, sideways, missing
//	locks.go     who may import which library, and rooms that see almost nothing
//	source.go    files: doc.go, length, init, time.Sleep, HTTP clients made outside safehttp
//	vocabulary.go  words that a newcomer would have to learn: how many each package has, under ceilings that only fall
//	list.go      reads the tree with go list; no network
//
// The checks are plain functions over a list of packages, so that their own test can show each of them failing.
package archtest
