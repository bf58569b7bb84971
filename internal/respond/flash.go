package respond

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"patchbay/internal/connectors"
)

// FlashKind is how a flash is shown.
type FlashKind string

// The kinds of flashes.
const (
	Notice FlashKind = "notice" // success
	Alert  FlashKind = "alert"  // failure
)

// Flash is a message for the browser's next page. Said is what a server said, redacted; nil: nothing.
type Flash struct {
	Kind FlashKind
	Text string
	Said *connectors.Upstream
	Undo *Undo // nil: the act cannot be undone
}

// Undo is the form that undoes an act.
type Undo struct {
	Action string
	Form   url.Values
}

// Session keys of the flash.
const (
	flashKind = "flash_kind"
	flashText = "flash_text"
	flashSaid = "flash_said" // JSON of connectors.Upstream; absent: nothing
	flashUndo = "flash_undo" // JSON of Undo; absent: none
)

// Back redirects the browser to a page of this site, which shows the flash.
func (p *Responder) Back(w http.ResponseWriter, r *http.Request, to string, flash Flash) error {
	p.Say(r.Context(), flash)
	return See(w, r, to)
}

// Say stores a flash for the next page.
func (p *Responder) Say(ctx context.Context, flash Flash) {
	p.sessions.Put(ctx, flashKind, string(flash.Kind))
	p.sessions.Put(ctx, flashText, flash.Text)
	p.putJSON(ctx, flashSaid, flash.Said, flash.Said != nil)
	p.putJSON(ctx, flashUndo, flash.Undo, flash.Undo != nil)
}

func (p *Responder) putJSON(ctx context.Context, key string, value any, ok bool) {
	p.sessions.Remove(ctx, key)
	if b, err := json.Marshal(value); ok && err == nil {
		p.sessions.Put(ctx, key, string(b))
	}
}

// TakeFlash returns and deletes the session's flash; ok is false if there is none.
func (p *Responder) TakeFlash(ctx context.Context) (f Flash, ok bool) {
	if !p.sessions.Exists(ctx, flashText) {
		return Flash{}, false
	}
	f = Flash{
		Kind: FlashKind(p.sessions.PopString(ctx, flashKind)),
		Text: p.sessions.PopString(ctx, flashText),
	}
	if said := p.sessions.PopString(ctx, flashSaid); said != "" {
		_ = json.Unmarshal([]byte(said), &f.Said)
	}
	if undo := p.sessions.PopString(ctx, flashUndo); undo != "" {
		_ = json.Unmarshal([]byte(undo), &f.Undo)
	}
	return f, true
}
