// Package middleware is the envelope of every request: what happens before a handler runs and after it has answered.
//
//	RequestID      a name for the request, in the log and in X-Request-Id; a proxy's counts as its word does below
//	ClientAddress  where it comes from; a proxy's word counts only if the operator trusts the proxy
//	Log            one line when it is answered: method, route pattern, status, duration, who; never a query or a header
//	Recover        a panic becomes a 500 and a log line with its stack
//	Headers        content security policy and its companions
//	Compress       pages and JSON, not event streams
//	LimitBody      4 MiB
//	SameOrigin     a browser's write comes from our own pages
//	Language       which language pages speak: what the person chose, else what the browser accepts
//
// [Envelope] is all of these, in this order. [Strangers] comes after, which bounds what one address asks for without a sign-in, and [Identify], where a caller is required; between the two stands the
// session manager. Refusals are handed to a function of package respond, which this package does not see.
package middleware
