// Package respond turns results and failures into HTTP responses, once for the whole program.
//
//	fault.Kind        status   to a program              to a browser
//	Malformed         400      application/problem+json  a page with the sentence
//	Unauthenticated   401      … and WWW-Authenticate    303 to /login, back afterwards
//	Denied            403
//	NotFound          404
//	BadMethod         405      … and Allow, by the router
//	Conflict          409
//	TooLarge          413
//	Invalid           422      … and errors[]            the form again, by the handler itself
//	RateLimited       429      … and Retry-After
//	Internal          500      (a generic sentence)
//	Upstream          502      … and upstream{}
//	Unavailable       503      … and Retry-After
//
// Handlers are [HandlerFunc]: they return an error, and an adapter responds with it ([Responder.Program],
// [Responder.Browser]). No other code writes a status of 400 or more. A cause is logged here, once, and never
// shown: it can repeat what a remote server sent.
//
// The sentence of a failure is chosen where the failure is understood.
package respond
