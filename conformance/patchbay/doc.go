// Package patchbay is the JSON API of a running Patchbay, as the programs of the conformance run use it: what they need of it, from the
// outside. It imports nothing of ours.
//
//	patchbay.go  connectors, accounts, syncs
//	door.go      an agent, what it was granted, and the address and token with which it comes
package patchbay
