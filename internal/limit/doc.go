// Package limit bounds what one process does at once, and how often.
//
//	Gate    operations under way, of each key and in all; those that wait are served by turns among keys
//	Rate    token buckets, one for each key, in bounded memory
//	Shares  token buckets from which one operation takes together
//	Bytes   memory of operations, of each key and in all; first come, first served
//	Recent  a bounded cache with two generations
//
// A key has a share of its own: a tenant, an agent, an address or a host. All types are safe for concurrent use.
//
// Four limiters have a package of their own, since a bound is the smaller part of them:
//
//	toolsync.slotPool    turns of tenants at a host, with reservations and processes of programs
//	jobs.syncSlots       decides by what River has queued, and snoozes a job instead of waiting
//	store.waitQueue      keeps requests while the database is unavailable, oldest first
//	toolcall.limiter     shares the tokens of a key among processes
package limit
