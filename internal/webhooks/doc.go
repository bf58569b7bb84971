// Package webhooks sends notices over HTTP as Standard Webhooks (standardwebhooks.com).
//
//	Create, Update, Delete, RotateSecret   an admin edits a webhook; audited (edit.go, secret.go)
//	Test, Redeliver                        a delivery by hand (manual.go)
//	Deliver                                one try of a delivery (deliver.go, send.go); package jobs repeats it
//
// A try is a POST of {"type", "timestamp", "data"} with three headers:
//
//	webhook-id         id of the delivery, the same at each try, to detect duplicates
//	webhook-timestamp  time of the try, in seconds
//	webhook-signature  "v1," and the base64 of HMAC-SHA256 over "id.timestamp.body"; two of them for a day after a rotation
//
// A webhook for Slack or Microsoft Teams is sent the message of that chat instead (chat.go), under the same headers.
//
// A delivery is sent at least once, in no order. It has arrived with a status of 2xx; the body of the response
// is not read. It is retried on the specification's schedule for three days (schedule.go). 410 disables the
// webhook, and so do three days without a success; a notice reports it.
//
// A try takes at most ten seconds, and a host and a tenant have a few slots each (gates.go), so that a hung
// receiver delays no other.
//
// The URL is checked when it is entered, and by safehttp at each connection. Redirects are not followed.
package webhooks
