// Package limit bounds what one process does at once, and how often.
//
//	Gate   operations under way, of each key and in all; those that wait are served by turns among keys
//	Rate   token buckets, one for each key, in bounded memory
//	Bytes  memory of operations, of each key and in all; first come, first served
//
// A key has a share of its own: a tenant, an agent, an address or a host. All types are safe for concurrent use.
package limit
