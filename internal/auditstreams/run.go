package auditstreams

import (
	"context"
	"errors"
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

const (
	// Bounds of a batch. Collectors take a megabyte by default.
	maxBatchRecords = 500
	maxBatchBytes   = 512 << 10
	// storeTimeout bounds storing a result, storeTries its attempts: without it the batch is sent again.
	storeTimeout = 10 * time.Second
	storeTries   = 3
	// Pauses after failures, doubled each time.
	minWait = 5 * time.Second
	maxWait = 5 * time.Minute
	// maxRefusals is the number of refusals in a row that pauses a stream, after a day. Proxies refuse, too, while their
	// backend is away.
	maxRefusals = int(24 * time.Hour / maxWait)
	// failuresNoticed is the number of failures in a row that is reported, after about an hour. A refusal is at once.
	failuresNoticed = 17
)

// unreadable is a failure of ours; the log has the cause.
const unreadable = "Patchbay couldn't read the records. The server's log says why."

// batch is what one attempt sends.
type batch struct {
	events  []event
	encoded [][]byte
	end     connectors.AuditCursor
	gap     string // description of the last gap; empty: none
}

// attemptResult is the result of an attempt.
type attemptResult struct {
	sentence   string // failure; empty: accepted
	status     int    // of HTTP; 0: no response
	refused    bool   // the receiver will refuse again
	retryAfter time.Duration
}

// run sends one stream under a lease.
type run struct {
	*Service
	lease   store.StreamLease
	looking context.Context //nolint:containedctx // done: no further batch is begun
	st      *store.Tenant
}

// sendRecords sends batches until nothing is undelivered, an attempt fails, or the time is over. The lease is renewed
// before each batch. Half of it is longer than an attempt and storing its result.
func (r run) sendRecords(ctx context.Context) error {
	limit := maxBatchRecords
	refused := attemptResult{} // a batch that is too large
	for began, tries := time.Now(), 0; ; {
		renewed := time.Now()
		stream, value, err := r.o.Store.Vault(r.lease.Tenant).RenewStreamLease(ctx, r.lease, r.o.Lease)
		switch {
		case fault.Is(err, fault.NotFound): // turned off, changed, deleted, or another process's
			return r.releaseLease(ctx)
		case err != nil && stream.ID == r.lease.Stream: // the stored secret cannot be opened
			return r.storeFailure(ctx, attemptResult{sentence: fault.As(err).Message, refused: true}, stream)
		case err != nil:
			return err
		}
		records, err := r.readPending(ctx, stream.Cursor)
		if err != nil && ctx.Err() != nil {
			return r.releaseLease(ctx)
		}
		if err != nil {
			return errors.Join(err, r.storeFailure(ctx, attemptResult{sentence: unreadable}, stream))
		}
		isOver := tries > 0 && time.Since(began) > r.o.Turn
		if isOver && refused.sentence != "" { // no batch was small enough
			return r.storeFailure(ctx, refused, stream)
		}
		if len(records) == 0 || isOver || r.looking.Err() != nil {
			return r.releaseLease(ctx)
		}
		b, err := r.mapperFor(r.lease.Tenant).newBatch(records, limit)
		if err != nil {
			return errors.Join(err, r.storeFailure(ctx, attemptResult{sentence: unreadable}, stream))
		}
		if time.Since(renewed) > r.o.Lease/2 { // the rest may be too short for an attempt
			continue
		}
		tries++
		res := r.sendBatch(ctx, r.lease.Tenant, stream, value, b)
		if ctx.Err() != nil && res.sentence != "" {
			return r.releaseLease(ctx) // this process ends; the receiver did not fail
		}
		if res.status == http.StatusRequestEntityTooLarge && len(b.events) > 1 {
			limit, refused = len(b.events)/2, res
			continue
		}
		if res.sentence != "" {
			return r.storeFailure(ctx, res, stream)
		}
		if err := r.storeDelivered(ctx, stream, b); err != nil {
			return err
		}
		refused = attemptResult{}
	}
}

// readPending reads undelivered records in a part of the lease.
func (r run) readPending(ctx context.Context, after connectors.AuditCursor) ([]store.StreamRecord, error) {
	ctx, cancel := context.WithTimeout(ctx, r.o.Lease/3)
	defer cancel()
	return r.st.AuditStreams().Pending(ctx, after)
}

// newBatch encodes records up to the bounds of a batch; it has at least one.
func (m mapper) newBatch(records []store.StreamRecord, limit int) (batch, error) {
	var b batch
	size := 0
	for _, record := range records {
		e, encoded, err := m.marshalRecord(record)
		if err != nil {
			return b, err
		}
		if size += len(encoded) + 1; len(b.events) > 0 && (len(b.events) == limit || size > maxBatchBytes) {
			break
		}
		b.events, b.encoded, b.end = append(b.events, e), append(b.encoded, encoded), record.After
		if gap := describeGap(record); gap != "" {
			b.gap = gap
		}
	}
	return b, nil
}

// sendBatch makes one attempt.
func (s *Service) sendBatch(ctx context.Context, tenant connectors.TenantID, stream connectors.AuditStream, value secret.Text, b batch) attemptResult {
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	began := time.Now()
	var res attemptResult
	if stream.Kind == connectors.StreamSyslog {
		res = s.sendSyslog(ctx, stream, b)
	} else {
		res = s.sendHTTPS(ctx, tenant, stream, value, b)
	}
	s.o.Log.DebugContext(ctx, "audit stream batch sent", "tenant_id", tenant, "audit_stream_id", stream.ID, "events", len(b.events),
		"status", res.status, "duration_ms", time.Since(began).Milliseconds(), "reason", res.sentence)
	return res
}

// releaseLease ends the lease, also when ctx is done: another process goes on at once.
func (r run) releaseLease(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	return r.st.AuditStreams().Release(ctx, r.lease)
}

// storeDelivered moves the cursor. It retries, because the batch would be sent again. A cursor that has moved already, and a
// lost lease, are seen when the lease is renewed.
func (r run) storeDelivered(ctx context.Context, stream connectors.AuditStream, b batch) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	for try := 1; ; try++ {
		err := r.st.Tx(ctx, func(tx *store.Tenant) error {
			moved, err := tx.AuditStreams().Advance(ctx, r.lease, stream.Cursor, b.end, b.gap)
			if err != nil || !moved || b.gap == "" {
				return err
			}
			if err := tx.Audit().Record(ctx, newSystemEvent("audit_stream.gap", stream, map[string]any{"gap": b.gap})); err != nil {
				return err
			}
			return tx.People().AddNotice(ctx, connectors.StreamGapNotice(stream, b.gap))
		})
		if err == nil || try == storeTries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

// storeFailure stores a failed attempt, and pauses the stream or adds a notice if it is time to.
func (r run) storeFailure(ctx context.Context, res attemptResult, stream connectors.AuditStream) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	f := store.StreamFailure{Sentence: res.sentence, Refused: res.refused, Wait: r.o.Jitter(nextWait(stream.Failures, res.retryAfter))}
	err := r.st.Tx(ctx, func(tx *store.Tenant) error {
		failed, refusals, err := tx.AuditStreams().Fail(ctx, r.lease, f)
		switch {
		case err != nil:
			return err
		case res.status == http.StatusGone:
			return pauseStream(ctx, tx, failed, connectors.StreamGone)
		case refusals >= maxRefusals:
			return pauseStream(ctx, tx, failed, connectors.StreamRefused)
		case refusals == 1, refusals == 0 && failed.Failures == failuresNoticed:
			return tx.People().AddNotice(ctx, connectors.StreamFailingNotice(failed))
		}
		return nil
	})
	if fault.Is(err, fault.NotFound) {
		return nil // the lease has ended
	}
	return err
}

// nextWait returns the pause after one more failure.
func nextWait(failures int, retryAfter time.Duration) time.Duration {
	wait := maxWait
	if failures < 6 {
		wait = min(maxWait, minWait<<failures)
	}
	return max(wait, min(retryAfter, maxWait))
}

// pauseStream turns a stream off because of its receiver.
func pauseStream(ctx context.Context, tx *store.Tenant, stream connectors.AuditStream, why connectors.StreamEnd) error {
	before, err := tx.State(ctx, store.OfAuditStream(stream.ID))
	if err != nil {
		return err
	}
	paused, err := tx.AuditStreams().Pause(ctx, stream.ID, why)
	if err != nil || !paused {
		return err
	}
	e := newSystemEvent("audit_stream.pause", stream, map[string]any{"reason": string(why)})
	if err := tx.RecordChange(ctx, e, before, store.OfAuditStream(stream.ID)); err != nil {
		return err
	}
	return tx.People().AddNotice(ctx, connectors.StreamPausedNotice(stream, why))
}

func newSystemEvent(action string, stream connectors.AuditStream, detail map[string]any) store.Event {
	e := store.Event{ActorType: "system", ActorName: "Patchbay", Action: action, Target: stream.Name, Detail: detail}
	e.Detail["audit_stream_id"], e.Detail["host"] = stream.ID.String(), hostName(stream.URL)
	return e
}
