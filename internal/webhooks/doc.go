// Package webhooks tells others of notices over HTTP, in the form of Standard Webhooks (standardwebhooks.com).
//
//	Create, Update, Delete, RotateSecret   what an admin does to a webhook; recorded
//	Test, Redeliver                        a delivery by hand
//	Deliver                                one try of a delivery; package jobs comes again until it says that it need not
//
// What is sent is a POST of {"type", "timestamp", "data"} with three headers:
//
//	webhook-id         the delivery's, the same at each try: whoever sees it a second time has it already
//	webhook-timestamp  of the try, in seconds
//	webhook-signature  "v1," and the base64 of HMAC-SHA256 over "id.timestamp.body"; for a day after a rotation two of them
//
// A delivery is sent at least once, and in no order: one that is tried again is overtaken by later ones. It has arrived when the answer's
// status is 2xx; the answer's body is not read. It is tried at once and then on the schedule of the specification, for three days
// ([schedule]). 410 turns the webhook off, and so do three days without a success; a notice says so.
//
// A receiver that hangs costs itself: each try takes ten seconds at most, and a host and a tenant have a few places each ([places]).
//
// The address is checked when it is entered, and by safehttp at each connection. No redirect is followed.
package webhooks
