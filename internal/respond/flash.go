package respond

import (
	"context"
	"net/http"
)

// FlashKind is how a flash is shown.
type FlashKind string

// The kinds of flashes.
const (
	Notice FlashKind = "notice" // success
	Alert  FlashKind = "alert"  // failure
)

// Flash is a message for the browser's next page.
type Flash struct {
	Kind FlashKind
	Text string
}

// Session keys of the flash.
const (
	flashKind = "flash_kind"
	flashText = "flash_text"
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
}

// TakeFlash returns and deletes the session's flash; ok is false if there is none.
func (p *Responder) TakeFlash(ctx context.Context) (f Flash, ok bool) {
	if !p.sessions.Exists(ctx, flashText) {
		return Flash{}, false
	}
	return Flash{
		Kind: FlashKind(p.sessions.PopString(ctx, flashKind)),
		Text: p.sessions.PopString(ctx, flashText),
	}, true
}
