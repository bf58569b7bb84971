// Package middleware wraps every handler outside of the gateway:
//
//	RequestID      the id in the log and in X-Request-Id; taken from a trusted proxy
//	ClientAddress  the client address; X-Forwarded-For counts from a trusted proxy only
//	Log            one line per response: method, route pattern, status, duration, caller; never a query or a header
//	Recover        a panic becomes a 500 and a log line with its stack
//	Headers        Content-Security-Policy and other security headers
//	Compress       pages and JSON, not event streams
//	LimitBody      4 MiB
//	SameOrigin     refuses a browser's write from another site
//	Language       the person's choice, else Accept-Language
//
// [Envelope] is all of these, in this order. [UnauthenticatedLimit] follows, which limits requests per address
// without a sign-in. Then come the session manager and [Identify], which requires a caller. Refusals are
// written by a function of package respond, which the caller passes in.
package middleware
