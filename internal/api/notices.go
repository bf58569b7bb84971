package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

type noticeJSON struct {
	ID    string          `json:"id" format:"uuid"`
	At    time.Time       `json:"at"`
	Kind  string          `json:"kind"`
	Title string          `json:"title"`
	Text  string          `json:"text"`
	Link  string          `json:"link" doc:"Dashboard path. Empty if none."`
	Data  json.RawMessage `json:"data" doc:"Ids and names, by kind."`
	Times int             `json:"times" doc:"Number of occurrences before it was read."`
	Read  *bool           `json:"read" doc:"Whether the caller has read it. Null for API keys."`

	Upstream *upstreamSaidJSON `json:"upstream" doc:"The server's response. Null if none. For an agent's account, visible to managers only."`
}

// TransformSchema implements huma.SchemaTransformer.
func (noticeJSON) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return setNullable(s, "upstream")
}

func viewNotice(actor auth.Actor) func(connectors.Notice) noticeJSON {
	return func(n connectors.Notice) noticeJSON {
		out := noticeJSON{
			ID: n.ID.String(), At: n.At.UTC(), Kind: string(n.Kind), Title: n.Title, Text: n.Body, Link: n.Link, Data: n.Data, Times: n.Times,
			Upstream: viewUpstreamSaid(n.UpstreamFor(actor.Role)),
		}
		if actor.UserID != nil {
			out.Read = &n.Read
		}
		return out
	}
}

// readNoticesRequest names the notices that were read.
type readNoticesRequest struct {
	IDs []string `json:"ids,omitempty" maxItems:"1000" doc:"Notice ids. Absent or empty: all."`
}

// noticesReadJSON counts those that were unread before.
type noticesReadJSON struct {
	Read int `json:"read" doc:"Number of notices that were unread."`
}

func (h *Handler) mountNotices() {
	const tag = "Notices"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/notices", id: "listNotices", tag: tag,
		summary: "List notices, newest first", permission: connectors.PermRead,
	}, h.listNotices)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/notices/read", id: "readNotices", tag: tag,
		summary: "Mark notices as read by the caller", permission: connectors.PermRead, status: http.StatusOK,
	}, h.readNotices)
}

func (h *Handler) listNotices(ctx context.Context, actor auth.Actor, in *Paging) (*response[list[noticeJSON]], error) {
	page, err := h.store.Tenant(actor.Tenant.ID).People().Notices(ctx, actor.UserID, in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewNotice(actor)), nil
}

func (h *Handler) readNotices(ctx context.Context, actor auth.Actor, in *struct {
	JSON optionalBody[readNoticesRequest]
}) (*response[noticesReadJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	if actor.UserID == nil {
		return nil, fault.Errorf(fault.Conflict, "API keys cannot mark notices as read. Sign in as a person.")
	}
	ids := make([]connectors.NoticeID, len(doc.IDs))
	for i, text := range doc.IDs {
		id, ok := connectors.Ref(text).UUID()
		if !ok {
			return nil, fault.InvalidFields(fault.Field{Location: "ids", Message: "Not all of these are notice ids."})
		}
		ids[i] = connectors.NoticeID{UUID: id}
	}
	n, err := h.store.Tenant(actor.Tenant.ID).People().ReadNotices(ctx, *actor.UserID, ids...)
	if err != nil {
		return nil, err
	}
	return &response[noticesReadJSON]{Body: noticesReadJSON{Read: n}}, nil
}
