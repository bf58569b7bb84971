// Package events serves event streams, which keep an open page current. A stream sends HTML fragments that the
// packages of the pages render.
//
//	events, limit     the route, and the bound of open streams
//	stream, poll      one stream: progress of syncs, and rows that changed in the database
//	badges            the counts in the frame of every page
//	calls, home, …    the rows of one topic
package events
