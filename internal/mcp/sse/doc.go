// Package sse reads server-sent events (WHATWG HTML section 9.2) leniently: lines end in LF, CR or CRLF. The
// stream may begin with a byte order mark and lack its last blank line. The size of an event is bounded.
//
// Reconnecting and the meaning of events are the caller's.
package sse
