package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Chains of audit streams.
const (
	ChainAudit = "audit"
	ChainCalls = "calls"
)

// StreamRecord is a record of one of the chains. Exactly one of Event, Call, Removed and Gap is set.
type StreamRecord struct {
	Chain    string
	Sequence int64 // position in the chain, without a gap, from 1
	Link     StreamLink
	Event    *RecordedEvent
	Call     *RecordedCall
	Removed  *RemovedCalls
	Gap      *StreamGap
	After    connectors.AuditCursor // the cursor when this record is delivered
}

// StreamLink is the link of a chain that holds a record. A link of call outcomes holds several records.
type StreamLink struct {
	N        int64
	At       time.Time
	Index    int64 // of the record in the link, from 1
	Records  int64 // of the link
	Hash     []byte
	Previous []byte // hash of the link before; nil: unknown, or none
}

// RecordedCall is how a call ended, as the chain recorded it.
type RecordedCall struct {
	Kind                       string // ended, or changed: a later record of the same call
	ID                         uuid.UUID
	AgentID, ConnectorID       *uuid.UUID
	Agent, Connector           string // slugs
	Type, Tool, Source, Caller string
	TokenID, CredentialID      *uuid.UUID
	DefinitionHash             []byte
	Status, Outcome, ErrorCode string
	IsError                    bool
	ApprovedBy                 string
	RequestBytes               *int64
	ResponseBytes              *int64
	StartedAt, CompletedAt     time.Time
	DurationUS                 *int64
	Address, RequestID         string
}

// RemovedCalls records that retention removed calls from the history.
type RemovedCalls struct {
	Calls int64
	Last  uuid.UUID // the newest of them
}

// StreamGap is a range of records that were removed before their delivery.
type StreamGap struct{ From, To int64 }

// streamPage bounds the records of one chain that are read at once.
const streamPage = 500

// Pending reads the records after a cursor: of the audit log, then of call outcomes, some hundreds of each.
func (t AuditStreams) Pending(ctx context.Context, after connectors.AuditCursor) (records []StreamRecord, err error) {
	err = t.asTenant().Snapshot(ctx, func(tx *Tenant) error {
		records, err = tx.pendingEvents(ctx, after)
		if err != nil {
			return err
		}
		if len(records) > 0 {
			after = records[len(records)-1].After
		}
		calls, err := tx.pendingCalls(ctx, after)
		if errors.Is(err, errOutcomeBody) && len(records) > 0 {
			return nil // the audit log goes on; the next page fails
		}
		records = append(records, calls...)
		return err
	})
	return records, err
}

// pendingEvents reads audit entries after a cursor. Heads are read first: in one snapshot all links up to them exist,
// or were removed.
func (t *tenant) pendingEvents(ctx context.Context, after connectors.AuditCursor) ([]StreamRecord, error) {
	head, err := t.q.AuditHead(ctx, t.id)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && head.Events <= after.AuditN {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	links, err := t.q.AuditLinks(ctx, dbgen.AuditLinksParams{TenantID: t.id, After: after.AuditN, Until: head.Events, MaxRows: streamPage})
	if err != nil {
		return nil, err
	}
	var records []StreamRecord
	next := func(r StreamRecord, n int64, hash []byte) {
		after.AuditN, after.AuditHash = n, hash
		r.Chain, r.Sequence, r.After = ChainAudit, n, after
		records = append(records, r)
	}
	if len(links) == 0 {
		next(StreamRecord{Gap: &StreamGap{after.AuditN + 1, head.Events}}, head.Events, head.Hash)
	}
	for i := range links {
		l := &links[i]
		if l.N > after.AuditN+1 {
			next(StreamRecord{Gap: &StreamGap{after.AuditN + 1, l.N - 1}}, l.N-1, unknownHash())
		}
		link := StreamLink{N: l.N, Index: 1, Records: 1, Hash: l.Hash, Previous: knownHash(after.AuditHash)}
		if !l.Present {
			next(StreamRecord{Link: link, Gap: &StreamGap{l.N, l.N}}, l.N, l.Hash)
			continue
		}
		link.At = l.At.UTC()
		next(StreamRecord{Link: link, Event: toStreamedEvent(l)}, l.N, l.Hash)
	}
	return records, nil
}

func toStreamedEvent(l *dbgen.AuditLinksRow) *RecordedEvent {
	return &RecordedEvent{
		ID: l.EventID, At: l.At.UTC(), ActorType: textOrEmpty(l.ActorType), ActorID: l.ActorID, ActorName: textOrEmpty(l.ActorName), Action: textOrEmpty(l.Action),
		Target: textOrEmpty(l.Target), Detail: json.RawMessage(l.Detail), RequestID: textOrEmpty(l.RequestID), IP: textOrEmpty(l.Ip), Hash: l.Hash,
	}
}

// pendingCalls reads records of call outcomes after a cursor.
func (t *tenant) pendingCalls(ctx context.Context, after connectors.AuditCursor) ([]StreamRecord, error) {
	head, err := t.outcomeHead(ctx)
	if err != nil || head.Places <= after.CallsN {
		return nil, err
	}
	links, err := t.q.StreamedOutcomes(ctx, dbgen.StreamedOutcomesParams{TenantID: t.id, After: after.CallsN, Until: head.Places, MaxRows: streamPage, MaxRecords: streamPage})
	if err != nil {
		return nil, err
	}
	w := callWalk{after: after}
	if len(links) == 0 {
		w.skipTo(head.Places, head.Records, head.Hash)
	}
	for i := range links {
		l := &links[i]
		if l.N > w.after.CallsN+1 {
			w.skipTo(l.N-1, l.RecordsBefore, unknownHash())
		}
		if err := w.addLink(l); err != nil {
			return nil, err
		}
		if len(w.records) >= streamPage {
			break
		}
	}
	return w.records, nil
}

// callWalk collects the records of links in chain order.
type callWalk struct {
	after   connectors.AuditCursor
	records []StreamRecord
}

// skipTo adds a gap up to a link and its last record.
func (w *callWalk) skipTo(n, record int64, hash []byte) {
	gap := StreamGap{w.after.CallsRecord + 1, record}
	w.after.CallsN, w.after.CallsHash, w.after.CallsRecord = n, hash, record
	w.records = append(w.records, StreamRecord{Chain: ChainCalls, Sequence: record, Gap: &gap, After: w.after})
}

// addLink adds the records of a link that are after the cursor, up to the end of the page. The rest is not decoded: a link
// may hold very many.
func (w *callWalk) addLink(l *dbgen.StreamedOutcomesRow) error {
	link := StreamLink{N: l.N, At: l.At.UTC(), Records: l.Calls, Hash: l.Hash, Previous: knownHash(w.after.CallsHash)}
	if l.Kind == "removed" {
		link.Records = 1
	}
	from := max(0, w.after.CallsRecord-l.RecordsBefore)
	to := min(link.Records, from+int64(streamPage-len(w.records)))
	if from >= link.Records || l.RecordsBefore > w.after.CallsRecord { // its number is wrong: the cursor is in a link before, or records are missing
		return errOutcomeBody
	}
	if l.Kind == "removed" {
		last, err := uuid.FromBytes(l.Body)
		if err != nil {
			return errOutcomeBody
		}
		if from < to {
			w.addRecord(l, link, 0, StreamRecord{Removed: &RemovedCalls{Calls: l.Calls, Last: last}})
		}
		return nil
	}
	ends, err := unpackSome(l.Body, l.Calls, from, to)
	if err != nil {
		return err
	}
	for i, end := range ends {
		call := newRecordedCall(l.Kind, end)
		if call == nil {
			return errOutcomeBody
		}
		w.addRecord(l, link, from+int64(i), StreamRecord{Call: call})
	}
	return nil
}

// addRecord adds the record at an index of a link, and moves the cursor behind it.
func (w *callWalk) addRecord(l *dbgen.StreamedOutcomesRow, link StreamLink, index int64, r StreamRecord) {
	w.after.CallsRecord = l.RecordsBefore + index + 1
	if link.Index = index + 1; link.Index == link.Records {
		w.after.CallsN, w.after.CallsHash = l.N, l.Hash
	}
	r.Chain, r.Sequence, r.Link, r.After = ChainCalls, w.after.CallsRecord, link, w.after
	w.records = append(w.records, r)
}

// newRecordedCall decodes the columns of function note_calls; nil: malformed.
func newRecordedCall(kind string, row outcomeRow) *RecordedCall {
	d := columnReader{row: row}
	c := &RecordedCall{Kind: kind}
	if id := d.readUUID(); id != nil {
		c.ID = *id
	}
	c.AgentID, c.Agent = d.readUUID(), d.readText()
	c.ConnectorID, c.Connector = d.readUUID(), d.readText()
	c.Type, c.Tool, c.Source, c.Caller = d.readText(), d.readText(), d.readText(), d.readText()
	c.TokenID, c.CredentialID, c.DefinitionHash = d.readUUID(), d.readUUID(), d.readBytes()
	c.Status, c.Outcome, c.ErrorCode = d.readText(), d.readText(), d.readText()
	c.IsError = len(d.row) > d.at && len(d.row[d.at]) == 1 && d.row[d.at][0] == 1
	d.at++
	c.ApprovedBy, c.RequestBytes, c.ResponseBytes = d.readText(), d.readNumber(), d.readNumber()
	c.StartedAt, c.CompletedAt, c.DurationUS = d.readTime(), d.readTime(), d.readNumber()
	c.Address, c.RequestID = d.readText(), d.readText()
	if d.malformed || d.at != len(row) || c.ID == uuid.Nil {
		return nil
	}
	return c
}

// columnReader reads columns in PostgreSQL's binary format.
type columnReader struct {
	row       outcomeRow
	at        int
	malformed bool
}

func (d *columnReader) readBytes() []byte {
	if d.at >= len(d.row) {
		d.malformed = true
		return nil
	}
	b := d.row[d.at]
	d.at++
	return b
}

func (d *columnReader) readText() string { return string(d.readBytes()) }

func (d *columnReader) readUUID() *uuid.UUID {
	b := d.readBytes()
	if b == nil {
		return nil
	}
	id, err := uuid.FromBytes(b)
	d.malformed = d.malformed || err != nil
	return &id
}

func (d *columnReader) readNumber() *int64 {
	b := d.readBytes()
	if b == nil {
		return nil
	}
	if len(b) != 8 {
		d.malformed = true
		return nil
	}
	return new(int64(binary.BigEndian.Uint64(b))) //nolint:gosec // as int8send wrote it
}

// postgresEpoch is the zero of PostgreSQL's times.
var postgresEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (d *columnReader) readTime() time.Time {
	us := d.readNumber()
	if us == nil {
		return time.Time{}
	}
	return postgresEpoch.Add(time.Duration(*us) * time.Microsecond)
}

// unknownHash stands for the hash of a removed link in a cursor.
func unknownHash() []byte { return make([]byte, 32) }

// knownHash returns a hash of a cursor; nil for unknownHash, which is the hash before the first link, too.
func knownHash(hash []byte) []byte {
	for _, b := range hash {
		if b != 0 {
			return hash
		}
	}
	return nil
}
