// Package auditstreams sends the audit log and call outcomes to receivers, as OCSF events (schema.ocsf.io, version 1.3.0).
//
//	Create, Update, Delete, Test   an admin edits a stream; audited (edit.go, try.go)
//	Start                          sends what is undelivered, in every process (service.go, run.go)
//
// Both are hash chains of a tenant. Positions have no gap and follow the order of the commits: a writer locks the
// chain's head until its commit. A stream has a cursor in each. It is moved after the receiver accepted a batch, by the
// process that holds the stream's lease. If a process dies in between, the batch is sent again, under the same numbers:
// delivery is at least once, and the receiver drops a metadata.uid that it has.
//
//	metadata.log_name           audit or calls
//	metadata.sequence           position in that chain, from 1
//	metadata.uid                names the record among those of all tenants; the same at each attempt
//	unmapped.patchbay.chain     link number, place of the record in the link, hash of the link, and of the link before
//
// HTTPS: a POST of at most 500 events, as lines or an array of JSON (https.go). It is accepted with a status of 2xx.
//
// Syslog: RFC 5424 messages over TLS, in the frames of RFC 5425 (syslog.go). It has no acknowledgement. After each batch the
// connection is closed in this direction, and the receiver answers by closing, too (RFC 5425 section 4.4). A close that
// comes before, and silence, are failures. A load balancer that loses its backend later is not seen: only HTTPS proves
// that nothing is missing.
//
// A failure is retried with a backoff of up to five minutes, without end. A receiver that refuses for a day, or answers
// 410, pauses the stream. If an operator cut the log before its delivery, the stream sends an event with the missing
// positions. The first refusal, a pause and a cut are reported by notices.
package auditstreams
