// Package sse reads server-sent events (WHATWG HTML §9.2) as real servers write them: lines end in LF, CR or CRLF, the
// stream may begin with a byte order mark and stop without its last blank line. An event is bounded in size.
//
// It only reads: reconnecting and what an event means are the caller's.
package sse
