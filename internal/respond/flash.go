package respond

import (
	"context"
	"net/http"
)

// FlashKind says how a flash is shown.
type FlashKind string

// The kinds of flash.
const (
	Notice FlashKind = "notice" // what was done
	Alert  FlashKind = "alert"  // what could not be done
)

// Flash is a sentence for the next page that this browser sees.
type Flash struct {
	Kind FlashKind
	Text string
}

// Where a session keeps its flash.
const (
	flashKind = "flash_kind"
	flashText = "flash_text"
)

// Back sends the browser to a page of ours, which shows the flash.
func (p *Responder) Back(w http.ResponseWriter, r *http.Request, to string, flash Flash) error {
	p.Say(r.Context(), flash)
	return See(w, r, to)
}

// Say keeps a flash for the next page.
func (p *Responder) Say(ctx context.Context, flash Flash) {
	p.sessions.Put(ctx, flashKind, string(flash.Kind))
	p.sessions.Put(ctx, flashText, flash.Text)
}

// TakeFlash returns the session's flash and forgets it; ok is false where there is none.
func (p *Responder) TakeFlash(ctx context.Context) (f Flash, ok bool) {
	if !p.sessions.Exists(ctx, flashText) {
		return Flash{}, false
	}
	return Flash{
		Kind: FlashKind(p.sessions.PopString(ctx, flashKind)),
		Text: p.sessions.PopString(ctx, flashText),
	}, true
}
