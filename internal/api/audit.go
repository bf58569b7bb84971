package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"patchbay/internal/auditsentence"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// auditEventJSON is an entry of the audit log.
type auditEventJSON struct {
	ID        string            `json:"id" format:"uuid"`
	At        time.Time         `json:"at"`
	Actor     auditActorJSON    `json:"actor"`
	Action    string            `json:"action" doc:"What was done: connector.create, credential.read, and so on."`
	Target    string            `json:"target" doc:"What it was done to."`
	Sentence  string            `json:"sentence" doc:"The entry as a sentence, for people: Ada Keller granted support-bot all tools of linear."`
	Detail    json.RawMessage   `json:"detail" doc:"What else is known of it, by action; never a secret."`
	Changes   []auditChangeJSON `json:"changes" doc:"What the act changed, by field; empty: nothing. Of secrets there are fingerprints, hmac:…: the same secret of the same thing has the same one."`
	RequestID string            `json:"request_id" doc:"Of the request that did it, as the log has it; empty: none did."`
	IP        string            `json:"ip" doc:"Where the request came from; empty likewise."`
	Hash      string            `json:"hash" doc:"SHA-256, in hex, over this entry and the hash of the one before it: see verifyAuditEvents."`
}

// auditChangeJSON is the change of one field.
type auditChangeJSON struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before" doc:"As it was; null: it was not there, or was null."`
	After  json.RawMessage `json:"after" doc:"As it is; null likewise."`
}

// auditActorJSON is the actor of an entry.
type auditActorJSON struct {
	Type string  `json:"type" doc:"person, key, agent, operator (the command line) or system."`
	ID   *string `json:"id" format:"uuid" doc:"Null: Patchbay itself."`
	Name string  `json:"name" doc:"As it was then."`
}

func viewAuditEvent(e store.RecordedEvent) auditEventJSON {
	out := auditEventJSON{
		ID: e.ID.String(), At: e.At, Actor: auditActorJSON{Type: e.ActorType, Name: e.ActorName}, Action: e.Action, Target: e.Target,
		Detail: e.Detail, RequestID: e.RequestID, IP: e.IP, Hash: hex.EncodeToString(e.Hash),
	}
	out.Sentence = auditsentence.Write(context.Background(), auditsentence.Entry{Actor: e.ActorName, Action: e.Action, Target: e.Target, Detail: e.Detail}, auditsentence.Names{})
	out.Changes = []auditChangeJSON{}
	for _, c := range e.Changes() {
		out.Changes = append(out.Changes, auditChangeJSON{Field: c.Field, Before: rawOrNull(c.Before), After: rawOrNull(c.After)})
	}
	if e.ActorID != nil {
		out.Actor.ID = new(e.ActorID.String())
	}
	return out
}

func rawOrNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

type listAuditInput struct {
	Actor  string    `query:"actor" doc:"Only what was done by those whose names hold this."`
	Action string    `query:"action" doc:"Only this action, or, with its first part alone, all that is done to such things: connector, credential."`
	Target string    `query:"target" doc:"Only what was done to things whose names hold this."`
	Since  time.Time `query:"since" doc:"Only from this time on."`
	Until  time.Time `query:"until" doc:"Only before this time."`
	Paging
}

func (in *listAuditInput) toFilter() store.AuditFilter {
	f := store.AuditFilter{Actor: in.Actor, Action: in.Action, Target: in.Target, Page: in.toPage()}
	if !in.Since.IsZero() {
		f.Since = &in.Since
	}
	if !in.Until.IsZero() {
		f.Until = &in.Until
	}
	return f
}

func (h *Handler) mountAudit() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/audit_events", id: "listAuditEvents", tag: "Audit",
		summary: "List what was done, by whom, the latest first", permission: connectors.PermAudit,
	}, h.listAuditEvents)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/audit_events/verify", id: "verifyAuditEvents", tag: "Audit",
		summary: "Compute the chain of all entries anew, and that of how calls ended, and tell whether each is as it was recorded", permission: connectors.PermAudit,
	}, h.verifyAuditEvents)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/audit_events/key", id: "auditKey", tag: "Audit",
		summary: "The public key that checks signed exports of the log", permission: connectors.PermRead,
	}, h.auditKey)
}

// auditKeyJSON is the public key for exported logs.
type auditKeyJSON struct {
	Algorithm string `json:"algorithm" doc:"Ed25519ph (RFC 8032), with the context «patchbay audit export»."`
	PublicKey string `json:"public_key" doc:"32 bytes in base64. It stays the same: keep it elsewhere, and check exports with patchbay audit verify --file … --signature … --key …."`
}

func (h *Handler) auditKey(_ context.Context, actor auth.Actor, _ *struct{}) (*response[auditKeyJSON], error) {
	signer, err := h.store.Tenant(actor.Tenant.ID).Audit().Signer()
	if err != nil {
		return nil, err
	}
	return &response[auditKeyJSON]{Body: auditKeyJSON{Algorithm: "Ed25519ph", PublicKey: signer.PublicKey()}}, nil
}

// auditCheckJSON is the result of a check of the hash chain.
type auditCheckJSON struct {
	OK       bool    `json:"ok" doc:"Every entry is as it was recorded, and none is missing."`
	Events   int64   `json:"events" doc:"How many entries the chain has."`
	Cut      int64   `json:"cut" doc:"How many of them, the oldest, were cut off because they were old: an entry of the log, audit.cut, has signed that. The chain is checked from there."`
	Head     string  `json:"head" doc:"The hash of the last entry, in hex, which covers all of them. Kept elsewhere, it shows later that nothing before it was changed. Empty: there is no entry."`
	FirstBad *string `json:"first_bad" format:"uuid" doc:"The first entry that is not as it was recorded, or is gone. Null: none, or its place has no entry."`
	Place    *int64  `json:"place" doc:"Which entry of the chain that is, counted from 1."`
	Reason   string  `json:"reason" doc:"What is wrong there; empty: nothing."`

	Calls callsCheckJSON `json:"calls" doc:"How calls ended, which is on record in a chain of its own, held against the history."`
}

// callsCheckJSON is the result of a check of call outcomes.
type callsCheckJSON struct {
	OK       bool    `json:"ok" doc:"Every checked call is in the history as it ended, and no recent one is missing."`
	Calls    int64   `json:"calls" doc:"How many calls were looked at, of all whose end is on record."`
	Gone     int64   `json:"gone" doc:"How many of them are not kept any more, being old. How they ended is still on record."`
	Whole    bool    `json:"whole" doc:"All were looked at. There may be more than fit into the time of a request: the daily check and patchbay audit verify look at them."`
	Places   int64   `json:"places" doc:"How many links the chain has: one for each batch of calls that ended."`
	Cut      int64   `json:"cut" doc:"How many of them, the oldest, were cut off because they were old, which an entry audit.cut has signed."`
	Head     string  `json:"head" doc:"The hash of the last link, in hex, as head of the entries."`
	FirstBad *string `json:"first_bad" format:"uuid" doc:"The first call that is not in the history as it ended. Null: none, or the record itself was changed."`
	Place    *int64  `json:"place" doc:"Which link of the chain tells of it, counted from 1."`
	Reason   string  `json:"reason" doc:"What is wrong there; empty: nothing."`
}

// outcomeCheckTimeout bounds the check of call outcomes.
const outcomeCheckTimeout = 5 * time.Second

func viewOutcomeCheck(check store.OutcomeCheck) callsCheckJSON {
	out := callsCheckJSON{
		OK: check.Bad == nil, Calls: check.Calls, Gone: check.Gone, Whole: check.Rest == nil, Places: check.Places, Cut: check.Cut, Head: hex.EncodeToString(check.Head),
	}
	if bad := check.Bad; bad != nil {
		out.Place, out.Reason = &bad.N, string(bad.Reason)
		if bad.Call != nil {
			out.FirstBad = new(bad.Call.String())
		}
	}
	return out
}

func (h *Handler) verifyAuditEvents(ctx context.Context, actor auth.Actor, _ *struct{}) (*response[auditCheckJSON], error) {
	check, err := h.store.Tenant(actor.Tenant.ID).Audit().Check(ctx)
	if err != nil {
		return nil, err
	}
	out := auditCheckJSON{OK: check.Bad == nil, Events: check.Events, Cut: check.Cut, Head: hex.EncodeToString(check.Head)}
	if bad := check.Bad; bad != nil {
		out.Place, out.Reason = &bad.N, string(bad.Reason)
		if bad.EventID != nil {
			out.FirstBad = new(bad.EventID.String())
		}
	}
	calls, err := h.store.Tenant(actor.Tenant.ID).Audit().CheckOutcomes(ctx, nil, time.Now().Add(outcomeCheckTimeout))
	if err != nil {
		return nil, err
	}
	out.Calls = viewOutcomeCheck(calls)
	return &response[auditCheckJSON]{Body: out}, nil
}

func (h *Handler) listAuditEvents(ctx context.Context, actor auth.Actor, in *listAuditInput) (*response[list[auditEventJSON]], error) {
	page, err := h.store.Tenant(actor.Tenant.ID).Audit().List(ctx, in.toFilter())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewAuditEvent), nil
}
