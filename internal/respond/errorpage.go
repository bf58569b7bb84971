package respond

import (
	"context"
	"net/http"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/fault"
	"patchbay/internal/tracing"
	"patchbay/internal/words"
	"patchbay/web"
	"patchbay/web/templates"
)

// FailureFrame is the frame around a page that says why there is none; ok is false for strangers, who see the page alone.
type FailureFrame func(r *http.Request, f *fault.Error, title string) (frame templates.Frame, ok bool)

// errorPage says why there is no page. It knows a person only by what knows the frame: what failed may be what finds out.
func (p *Responder) errorPage(r *http.Request, f *fault.Error) templ.Component {
	title := headline(r.Context(), f.Kind)
	page := templates.ErrorPage{
		Frame:  templates.Frame{Title: title, Asset: web.Asset},
		Status: Status(f.Kind),
		Title:  title,
		Text:   words.Said(r.Context(), f.Message),
		Links:  waysOut(r, f.Kind),
	}
	if p.frame != nil {
		if frame, ok := p.frame(r, f, title); ok {
			page.Frame = frame
		}
	}
	page.Frame.Path = stands(r)
	if ours(f.Kind) {
		page.RequestID, page.TraceID = middleware.GetReqID(r.Context()), tracing.ID(r.Context())
	}
	return templates.Error(page)
}

// said is a failure as a sentence for the page that stands.
func said(r *http.Request, f *fault.Error) templ.Component {
	text := words.Said(r.Context(), f.Message)
	if id := middleware.GetReqID(r.Context()); id != "" && ours(f.Kind) {
		text += " " + words.Parts(r.Context(), "If you ask someone about this, tell them|…")[0] + " " + id
	}
	return templates.AlertLine(web.Asset, text)
}

// ours tells what is nobody's mistake but ours.
func ours(k fault.Kind) bool { return k == fault.Internal || k == fault.Unavailable }

// waysOut lead on from a failure: once more where that may help, back to the form, and to where everything begins.
func waysOut(r *http.Request, k fault.Kind) []templates.Link {
	var links []templates.Link
	if reads(r) && (ours(k) || k == fault.RateLimited || k == fault.Upstream) {
		links = append(links, templates.Link{Text: words.T(r.Context(), "Try again"), Href: stands(r)})
	}
	if from := CameFrom(r, ""); !reads(r) && from != "" {
		links = append(links, templates.Link{Text: words.T(r.Context(), "Go back"), Href: from})
	}
	return append(links, templates.Link{Text: words.T(r.Context(), "Go to the connectors"), Href: "/connectors"})
}

// stands is the page that a person comes back to. A form has no address of its own: it is the page that it was on.
func stands(r *http.Request) string {
	if reads(r) {
		return OwnPath(r.URL.RequestURI(), "/")
	}
	return CameFrom(r, "/")
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func headline(ctx context.Context, k fault.Kind) string {
	switch k {
	case fault.Denied:
		return words.T(ctx, "You may not do this")
	case fault.NotFound:
		return words.T(ctx, "There is nothing here")
	case fault.Conflict:
		return words.T(ctx, "Not possible now")
	case fault.TooLarge:
		return words.T(ctx, "That is too large")
	case fault.Malformed, fault.Invalid, fault.BadMethod:
		return words.T(ctx, "This cannot be done as asked")
	case fault.RateLimited:
		return words.T(ctx, "Too many tries")
	case fault.Upstream:
		return words.T(ctx, "The server did not play along")
	case fault.Unavailable:
		return words.T(ctx, "Not available now")
	default:
		return words.T(ctx, "Something went wrong")
	}
}
