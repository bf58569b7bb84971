package respond

import (
	"context"
	"encoding/json"
	"net/http"

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
}

// Session keys of the flash.
const (
	flashKind = "flash_kind"
	flashText = "flash_text"
	flashSaid = "flash_said" // JSON of connectors.Upstream; absent: nothing
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
	p.sessions.Remove(ctx, flashSaid)
	if flash.Said == nil {
		return
	}
	if b, err := json.Marshal(flash.Said); err == nil {
		p.sessions.Put(ctx, flashSaid, string(b))
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
	return f, true
}
