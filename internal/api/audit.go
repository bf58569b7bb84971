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
	Action    string            `json:"action" doc:"For example connector.create or credential.read."`
	Target    string            `json:"target" doc:"What the action applied to."`
	Sentence  string            `json:"sentence" doc:"The entry as a sentence: Ada Keller granted support-bot all tools of linear."`
	Detail    json.RawMessage   `json:"detail" doc:"Further facts, by action. Never secrets."`
	Changes   []auditChangeJSON `json:"changes" doc:"Changed fields. Secrets appear as fingerprints, hmac:…: equal secrets of the same object have equal ones."`
	RequestID string            `json:"request_id" doc:"The request's id, as in the log. Empty if none."`
	IP        string            `json:"ip" doc:"The request's client address. Empty if none."`
	Hash      string            `json:"hash" doc:"SHA-256 in hex over this entry and the previous hash. See verifyAuditEvents."`
}

// auditChangeJSON is the change of one field.
type auditChangeJSON struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before" doc:"Null if absent or null."`
	After  json.RawMessage `json:"after" doc:"Null if absent or null."`
}

// auditActorJSON is the actor of an entry.
type auditActorJSON struct {
	Type string  `json:"type" doc:"person, key, agent, operator (command line) or system."`
	ID   *string `json:"id" format:"uuid" doc:"Null for Patchbay itself."`
	Name string  `json:"name" doc:"The name at that time."`
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
	Actor  string    `query:"actor" doc:"Part of the actor's name."`
	Action string    `query:"action" doc:"An action, or its first part for all actions on that type: connector, credential."`
	Target string    `query:"target" doc:"Part of the target's name."`
	Since  time.Time `query:"since" doc:"At or after this time."`
	Until  time.Time `query:"until" doc:"Before this time."`
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
		summary: "List audit events, newest first", permission: connectors.PermAudit,
	}, h.listAuditEvents)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/audit_events/verify", id: "verifyAuditEvents", tag: "Audit",
		summary: "Verify the hash chains of audit events and call outcomes", permission: connectors.PermAudit,
	}, h.verifyAuditEvents)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/audit_events/key", id: "auditKey", tag: "Audit",
		summary: "Get the public key that verifies signed audit exports", permission: connectors.PermRead,
	}, h.auditKey)
}

// auditKeyJSON is the public key for exported logs.
type auditKeyJSON struct {
	Algorithm string `json:"algorithm" doc:"Ed25519ph (RFC 8032) with the context «patchbay audit export»."`
	PublicKey string `json:"public_key" doc:"32 bytes in base64. It never changes: store it elsewhere, and verify exports with patchbay audit verify --file … --signature … --key …."`
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
	OK       bool    `json:"ok" doc:"Whether every entry is unchanged and none is missing."`
	Events   int64   `json:"events" doc:"Number of entries in the chain."`
	Cut      int64   `json:"cut" doc:"Number of oldest entries removed by retention, signed by an audit.cut entry. Verification starts after them."`
	Head     string  `json:"head" doc:"The last entry's hash in hex, which covers all entries. A copy kept elsewhere proves later that none was changed. Empty if there are none."`
	FirstBad *string `json:"first_bad" format:"uuid" doc:"The first changed or missing entry. Null if none, or if its place has no entry."`
	Place    *int64  `json:"place" doc:"Its position in the chain, from 1."`
	Reason   string  `json:"reason" doc:"What is wrong with it. Empty if nothing."`

	Calls callsCheckJSON `json:"calls" doc:"The separate chain of call outcomes, compared with the history."`
}

// callsCheckJSON is the result of a check of call outcomes.
type callsCheckJSON struct {
	OK       bool    `json:"ok" doc:"Whether every checked call matches its recorded outcome and no recent call is missing."`
	Calls    int64   `json:"calls" doc:"Number of calls checked."`
	Gone     int64   `json:"gone" doc:"How many of them were removed by retention. Their outcomes are still recorded."`
	Whole    bool    `json:"whole" doc:"Whether all calls were checked. If they exceed a request's time limit, the daily check and patchbay audit verify cover them."`
	Places   int64   `json:"places" doc:"Number of links in the chain, one per batch of ended calls."`
	Cut      int64   `json:"cut" doc:"Number of oldest links removed by retention, signed by an audit.cut entry."`
	Head     string  `json:"head" doc:"The last link's hash in hex, as head above."`
	FirstBad *string `json:"first_bad" format:"uuid" doc:"The first call that differs from its recorded outcome. Null if none, or if the record itself was changed."`
	Place    *int64  `json:"place" doc:"Its link's position in the chain, from 1."`
	Reason   string  `json:"reason" doc:"What is wrong with it. Empty if nothing."`
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
