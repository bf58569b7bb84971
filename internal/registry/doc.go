// Package registry is what an admin does to connectors, credentials and agents, whichever door the order came through.
//
// Each order goes the same way, in this order:
//
//  1. the role: who may not, learns nothing else
//  2. the rules (package connectors), all broken ones at once, each at its place in the document
//  3. the egress rules for a new or changed URL
//  4. one transaction: the rows, and the audit event that tells of them
//
// An import is many orders in one document, each carried out by itself; as a rehearsal all of it is tried and rolled back.
//
// No order talks to a server; syncing is package toolsync's. Reads need no registry: doors ask the store.
package registry
