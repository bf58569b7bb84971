package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auditstreams"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// auditStreamJSON is an audit stream, without the value of its header.
type auditStreamJSON struct {
	ID            string     `json:"id" format:"uuid"`
	Name          string     `json:"name"`
	Kind          string     `json:"kind" enum:"https,syslog"`
	URL           string     `json:"url" doc:"https://…, or tls://host:port for syslog."`
	Format        string     `json:"format" enum:"ndjson,json,syslog" doc:"Of a batch: lines or an array of JSON, or RFC 5424 messages."`
	Header        string     `json:"header" doc:"Name of the header that authenticates Patchbay. Empty: none."`
	HasSecret     bool       `json:"has_secret" doc:"The header has a value, which is not shown."`
	CA            string     `json:"ca" doc:"Certificates in PEM format that sign the syslog receiver's. Empty: those of the server's system."`
	Enabled       bool       `json:"enabled"`
	State         string     `json:"state" enum:"active,failing,paused"`
	PausedReason  *string    `json:"paused_reason" doc:"Why Patchbay paused it: gone (410 response) or refused (refusals for a day). Null if it did not."`
	AuditPosition int64      `json:"audit_position" doc:"Position of the last delivered audit entry."`
	CallsPosition int64      `json:"calls_position" doc:"Position of the last delivered record of a call."`
	Behind        int64      `json:"behind" doc:"Records that are not delivered yet."`
	Failures      int        `json:"failures" doc:"Failed attempts since the last success."`
	FailingSince  *time.Time `json:"failing_since" doc:"Null if the last attempt succeeded."`
	LastError     string     `json:"last_error" doc:"Empty if the last attempt succeeded."`
	NextAt        *time.Time `json:"next_at" doc:"Next attempt. Null if the last one succeeded."`
	DeliveredAt   *time.Time `json:"delivered_at" doc:"Last success. Null if none."`
	Gap           string     `json:"gap" doc:"The last records that were removed before their delivery. Empty: none."`
	GapAt         *time.Time `json:"gap_at"`
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
}

func viewAuditStream(s connectors.AuditStream) auditStreamJSON {
	out := auditStreamJSON{
		ID: s.ID.String(), Name: s.Name, Kind: string(s.Kind), URL: s.URL, Format: string(s.Format), Header: s.Header, HasSecret: s.HasSecret, CA: s.CA,
		Enabled: s.Enabled, State: string(s.State()), AuditPosition: s.Cursor.AuditN, CallsPosition: s.Cursor.CallsRecord, Behind: s.Behind(), Failures: s.Failures,
		FailingSince: toUTC(s.FailingSince), LastError: s.LastError, NextAt: toUTC(s.NextAt), DeliveredAt: toUTC(s.DeliveredAt), Gap: s.Gap, GapAt: toUTC(s.GapAt),
		CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(),
	}
	if s.DisabledWhy != connectors.StreamOnOrOff {
		out.PausedReason = new(string(s.DisabledWhy))
	}
	return out
}

type auditStreamCreate struct {
	Name   string `json:"name"`
	Kind   string `json:"kind" doc:"https or syslog."`
	URL    string `json:"url" doc:"https://…, or tls://host:port for syslog (port 6514 by default)."`
	Format string `json:"format,omitempty" doc:"For https: ndjson (the default) or json."`
	Header string `json:"header,omitempty" doc:"For https: name of a header. Default: Authorization."`
	Secret string `json:"secret,omitempty" writeOnly:"true" doc:"Value of the header, such as \"Bearer TOKEN\" or \"Splunk TOKEN\". It is never shown."`
	CA     string `json:"ca,omitempty" doc:"For syslog: certificates in PEM format. Default: those of the server's system."`
}

// auditStreamPatch changes an audit stream. An absent field keeps its value.
type auditStreamPatch struct {
	Name    *string `json:"name,omitempty"`
	URL     *string `json:"url,omitempty" doc:"Another scheme, host or port needs secret, too."`
	Format  *string `json:"format,omitempty"`
	Header  *string `json:"header,omitempty"`
	Secret  *string `json:"secret,omitempty" writeOnly:"true" doc:"Empty: no header."`
	CA      *string `json:"ca,omitempty"`
	Enabled *bool   `json:"enabled,omitempty" doc:"true: continues at its position."`
}

func (p auditStreamPatch) toChange() auditstreams.Change {
	c := auditstreams.Change{Name: p.Name, URL: p.URL, Header: p.Header, CA: p.CA, Enabled: p.Enabled}
	if p.Format != nil {
		c.Format = new(connectors.StreamFormat(*p.Format))
	}
	if p.Secret != nil {
		c.Value = new(secret.Text(*p.Secret))
	}
	return c
}

// auditStreamTest is the result of a test message.
type auditStreamTest struct {
	Accepted   bool   `json:"accepted" doc:"Syslog has no acknowledgement: then the receiver closed the connection after Patchbay."`
	Status     *int   `json:"status" doc:"HTTP status. Null without a response."`
	Error      string `json:"error" doc:"Empty if accepted."`
	DurationMS int64  `json:"duration_ms"`
}

// AuditStreamPath is the path of an audit stream.
type AuditStreamPath struct {
	ID string `path:"id" doc:"An audit stream's id."`
}

// findAuditStream finds the stream in the path. NotFound comes before errors of the body.
func findAuditStream(ctx context.Context, tenant store.AuditStreams, p AuditStreamPath) (connectors.AuditStream, error) {
	id, ok := connectors.Ref(p.ID).UUID()
	if !ok {
		return connectors.AuditStream{}, fault.Errorf(fault.NotFound, "No such audit stream.")
	}
	return tenant.Get(ctx, connectors.AuditStreamID{UUID: id})
}

func (h *Handler) mountAuditStreams() {
	const tag = "Audit streams"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/audit_streams", id: "listAuditStreams", tag: tag,
		summary: "List audit streams, oldest first", permission: connectors.PermManage,
	}, h.listAuditStreams)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/audit_streams", id: "createAuditStream", tag: tag,
		summary: "Send the audit log and call outcomes to a receiver, from now on", permission: connectors.PermManage, status: http.StatusCreated,
		description: "Events are OCSF 1.3.0. metadata.log_name is audit or calls, metadata.sequence the position in that chain, without a gap.",
	}, h.createAuditStream)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/audit_streams/{id}", id: "getAuditStream", tag: tag,
		summary: "Get an audit stream", permission: connectors.PermManage,
	}, h.getAuditStream)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/audit_streams/{id}", id: "updateAuditStream", tag: tag,
		summary: "Update an audit stream, pause it, or continue it at its position", permission: connectors.PermManage,
	}, h.updateAuditStream)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/audit_streams/{id}", id: "deleteAuditStream", tag: tag,
		summary: "Delete an audit stream and its position", permission: connectors.PermManage,
	}, h.deleteAuditStream)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/audit_streams/{id}/test", id: "testAuditStream", tag: tag,
		summary: "Send one event without a position, now", permission: connectors.PermManage, status: http.StatusOK,
	}, h.testAuditStream)
}

func (h *Handler) listAuditStreams(ctx context.Context, actor auth.Actor, _ *struct{}) (*response[list[auditStreamJSON]], error) {
	streams, err := h.store.Tenant(actor.Tenant.ID).AuditStreams().List(ctx)
	if err != nil {
		return nil, err
	}
	return newListResponse(store.List[connectors.AuditStream]{Items: streams}, viewAuditStream), nil
}

func (h *Handler) createAuditStream(ctx context.Context, actor auth.Actor, in *struct {
	JSON requestBody[auditStreamCreate]
}) (*response[auditStreamJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	made, err := h.auditStreams.Create(ctx, actor, connectors.AuditStream{
		Name: doc.Name, Kind: connectors.StreamKind(doc.Kind), URL: doc.URL, Format: connectors.StreamFormat(doc.Format), Header: doc.Header, CA: doc.CA,
	}, secret.Text(doc.Secret))
	if err != nil {
		return nil, err
	}
	return &response[auditStreamJSON]{Body: viewAuditStream(made)}, nil
}

func (h *Handler) getAuditStream(ctx context.Context, actor auth.Actor, in *AuditStreamPath) (*response[auditStreamJSON], error) {
	s, err := findAuditStream(ctx, h.store.Tenant(actor.Tenant.ID).AuditStreams(), *in)
	if err != nil {
		return nil, err
	}
	return &response[auditStreamJSON]{Body: viewAuditStream(s)}, nil
}

type updateAuditStreamInput struct {
	AuditStreamPath
	JSON requestBody[auditStreamPatch]
}

func (h *Handler) updateAuditStream(ctx context.Context, actor auth.Actor, in *updateAuditStreamInput) (*response[auditStreamJSON], error) {
	s, err := findAuditStream(ctx, h.store.Tenant(actor.Tenant.ID).AuditStreams(), in.AuditStreamPath)
	if err != nil {
		return nil, err
	}
	patch, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	if s, err = h.auditStreams.Update(ctx, actor, s.ID, patch.toChange()); err != nil {
		return nil, err
	}
	return &response[auditStreamJSON]{Body: viewAuditStream(s)}, nil
}

func (h *Handler) deleteAuditStream(ctx context.Context, actor auth.Actor, in *AuditStreamPath) (*noContent, error) {
	s, err := findAuditStream(ctx, h.store.Tenant(actor.Tenant.ID).AuditStreams(), *in)
	if err != nil {
		return nil, err
	}
	return nil, h.auditStreams.Delete(ctx, actor, s.ID)
}

func (h *Handler) testAuditStream(ctx context.Context, actor auth.Actor, in *AuditStreamPath) (*response[auditStreamTest], error) {
	s, err := findAuditStream(ctx, h.store.Tenant(actor.Tenant.ID).AuditStreams(), *in)
	if err != nil {
		return nil, err
	}
	tested, err := h.auditStreams.Test(ctx, actor, s.ID)
	if err != nil {
		return nil, err
	}
	out := auditStreamTest{Accepted: tested.Accepted, Error: tested.Sentence, DurationMS: tested.Took.Milliseconds()}
	if tested.Status != 0 {
		out.Status = &tested.Status
	}
	return &response[auditStreamTest]{Body: out}, nil
}
