package calls

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web"
	"patchbay/web/templates"
)

// callShow shows one call.
func (h *Handler) callShow(w http.ResponseWriter, r *http.Request) error {
	c, err := h.findCall(r)
	if err != nil {
		return err
	}
	title := cmp.Or(callTitle(c), shell.ShortenText(c.Tool, shell.MaxName))
	frame := h.NewFrame(r, templates.NavCalls, shell.NewCrumb(i18n.T(r.Context(), "Calls"), "/calls"), templates.Crumb{Text: title, Mono: callTitle(c) == ""})
	if !c.Status.Ended() {
		frame.Listen = "/events?on=call&id=" + c.ID.String()
	}
	detail := CallDetail(r.Context(), web.Asset, c, shell.Actor(r).Tenant.CallHistory, frame.Can, h.Now())
	if err := MarkCall(r.Context(), h.Shell, h.TenantStore(r), c, &detail.Call); err != nil {
		return err
	}
	if shell.Actor(r).Tenant.WithholdsBodies() && !c.Withheld && c.HasBodies() {
		detail.Facts = append(detail.Facts, templates.Fact{Label: i18n.T(r.Context(), "This view"), Value: i18n.T(r.Context(), "recorded")})
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Call(templates.CallPage{Frame: frame, Detail: detail}))
}

func (h *Handler) findCall(r *http.Request) (connectors.ToolCall, error) {
	id, err := shell.CallID(r)
	if err != nil {
		return connectors.ToolCall{}, err
	}
	return h.Calls.Read(r.Context(), shell.Actor(r), id)
}

// callCancel cancels a call that waits or runs.
func (h *Handler) callCancel(w http.ResponseWriter, r *http.Request) error {
	id, err := shell.CallID(r)
	if err != nil {
		return err
	}
	flash := respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Call cancelled.")}
	_, err = h.Calls.Cancel(r.Context(), shell.Actor(r), id)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		flash = respond.Flash{Kind: respond.Alert, Text: problem.Message} // the call ended in between
	} else if err != nil {
		return err
	}
	return h.Respond.Back(w, r, respond.CameFrom(r, shell.CallPath(id)), flash)
}

// picturePolicy keeps a picture from running anything, whatever type a browser takes it for.
const picturePolicy = "default-src 'none'; sandbox"

// callPicture serves one picture of a call's result. It is not found unless its bytes match its media type.
func (h *Handler) callPicture(w http.ResponseWriter, r *http.Request) error {
	c, err := h.findCall(r)
	if err != nil {
		return err
	}
	kind, picture, ok := findPicture(c.Content, chi.URLParam(r, "n"))
	if !ok {
		return fault.Errorf(fault.NotFound, "No such picture.")
	}
	header := w.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Length", strconv.Itoa(len(picture)))
	header.Set("Content-Security-Policy", picturePolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Content-Disposition", "inline")
	header.Set("Cache-Control", "private, no-store")
	_, _ = w.Write(picture) // a write error means that the browser is gone
	return nil
}

// findPicture returns the n-th content block if it is a picture of a safe type.
func findPicture(content json.RawMessage, n string) (kind string, picture []byte, ok bool) {
	var blocks []json.RawMessage
	index, err := strconv.Atoi(n)
	if err != nil || json.Unmarshal(content, &blocks) != nil || index < 0 || index >= len(blocks) {
		return "", nil, false
	}
	var b ContentBlock
	if json.Unmarshal(blocks[index], &b) != nil || b.Type.Value != "image" || !SafePictures[b.MIMEType.Value] {
		return "", nil, false
	}
	picture, err = base64.StdEncoding.DecodeString(b.Data.Value)
	kind = b.MIMEType.Value
	return kind, picture, err == nil && http.DetectContentType(picture) == kind
}
