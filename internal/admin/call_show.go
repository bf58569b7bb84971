package admin

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/words"
	"patchbay/web"
	"patchbay/web/templates"
)

// callShow is about one call.
func (h *Handler) callShow(w http.ResponseWriter, r *http.Request) error {
	c, err := h.call(r)
	if err != nil {
		return err
	}
	frame := h.frame(r, templates.NavCalls, crumb(words.T(r.Context(), "Calls"), "/calls"), templates.Crumb{Text: shorten(c.Tool, maxName), Mono: true})
	if !c.Status.Ended() {
		frame.Listen = "/events?on=call&id=" + c.ID.String()
	}
	detail := callDetail(r.Context(), web.Asset, c, actor(r).Tenant.CallHistory, frame.Can, h.now())
	if actor(r).Tenant.WithholdsBodies() && !c.Withheld && c.HasBodies() {
		detail.Facts = append(detail.Facts, templates.Fact{Label: words.T(r.Context(), "That you read it"), Value: words.T(r.Context(), "is on record")})
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Call(templates.CallPage{Frame: frame, Detail: detail}))
}

func (h *Handler) call(r *http.Request) (connectors.ToolCall, error) {
	id, err := callID(r)
	if err != nil {
		return connectors.ToolCall{}, err
	}
	return h.calls.Read(r.Context(), actor(r), id)
}

// callCancel ends a call that waits or runs.
func (h *Handler) callCancel(w http.ResponseWriter, r *http.Request) error {
	id, err := callID(r)
	if err != nil {
		return err
	}
	flash := respond.Flash{Kind: respond.Notice, Text: words.T(r.Context(), "The call is cancelled.")}
	_, err = h.calls.Cancel(r.Context(), actor(r), id)
	if problem, ok := mendable(r.Context(), err); ok {
		flash = respond.Flash{Kind: respond.Alert, Text: problem.Message} // it has ended meanwhile
	} else if err != nil {
		return err
	}
	return h.respond.Back(w, r, respond.CameFrom(r, callPath(id)), flash)
}

// picturePolicy lets a picture do nothing, whatever it is taken for.
const picturePolicy = "default-src 'none'; sandbox"

// callPicture serves one picture of a call's result, where its bytes are what they are said to be. All else is not found.
func (h *Handler) callPicture(w http.ResponseWriter, r *http.Request) error {
	c, err := h.call(r)
	if err != nil {
		return err
	}
	kind, picture, ok := pictureOf(c.Content, chi.URLParam(r, "n"))
	if !ok {
		return fault.Errorf(fault.NotFound, "There is no such picture.")
	}
	header := w.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Length", strconv.Itoa(len(picture)))
	header.Set("Content-Security-Policy", picturePolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Content-Disposition", "inline")
	header.Set("Cache-Control", "private, no-store")
	_, _ = w.Write(picture) // a browser that has gone needs no answer
	return nil
}

// pictureOf is the n-th block of a content, where it is a picture that may be shown.
func pictureOf(content json.RawMessage, n string) (kind string, picture []byte, ok bool) {
	var blocks []json.RawMessage
	at, err := strconv.Atoi(n)
	if err != nil || json.Unmarshal(content, &blocks) != nil || at < 0 || at >= len(blocks) {
		return "", nil, false
	}
	var b contentBlock
	if json.Unmarshal(blocks[at], &b) != nil || b.Type.value != "image" || !safePictures[b.MIMEType.value] {
		return "", nil, false
	}
	picture, err = base64.StdEncoding.DecodeString(b.Data.value)
	kind = b.MIMEType.value
	return kind, picture, err == nil && http.DetectContentType(picture) == kind
}
