// Package patchbay is a minimal client of Patchbay's JSON API for the conformance programs. It imports no other
// package of the project.
//
//	patchbay.go  connectors, accounts, syncs
//	endpoint.go  agents, grants, tokens
package patchbay
