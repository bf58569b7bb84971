package respond

import (
	"context"
	"net/http"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/tracing"
	"patchbay/web"
	"patchbay/web/templates"
)

// FailureFrame is the frame of a failure page; ok is false without a signed-in person, when the page has none.
type FailureFrame func(r *http.Request, f *fault.Error, title string) (frame templates.Frame, ok bool)

// errorPage is a failure page. It knows the person from the frame only, since finding out may be what failed.
func (p *Responder) errorPage(r *http.Request, f *fault.Error) templ.Component {
	title := failureTitle(r.Context(), f.Kind)
	page := templates.ErrorPage{
		Frame:  templates.Frame{Title: title, Asset: web.Asset},
		Status: Status(f.Kind),
		Title:  title,
		Text:   i18n.TranslateKnown(r.Context(), f.Message),
		Links:  waysOut(r, f.Kind),
	}
	if p.frame != nil {
		if frame, ok := p.frame(r, f, title); ok {
			page.Frame = frame
		}
	}
	page.Frame.Path = returnPath(r)
	if page.Frame.Person != nil {
		page.Said = NewQuote(r.Context(), connectors.UpstreamOf(f.Remote))
	}
	if isServerFault(f.Kind) {
		page.RequestID, page.TraceID = middleware.GetReqID(r.Context()), tracing.ID(r.Context())
	}
	return templates.Error(page)
}

// failureFragment is a failure as a sentence for the open page.
func failureFragment(r *http.Request, f *fault.Error) templ.Component {
	text := i18n.TranslateKnown(r.Context(), f.Message)
	if id := middleware.GetReqID(r.Context()); id != "" && isServerFault(f.Kind) {
		text += " " + i18n.Parts(r.Context(), "When asking for help, quote|…")[0] + " " + id
	}
	return templates.AlertLine(web.Asset, text)
}

// isServerFault reports whether a failure is Patchbay's own.
func isServerFault(k fault.Kind) bool { return k == fault.Internal || k == fault.Unavailable }

// waysOut are a failure page's links: retry, back to the form, and home.
func waysOut(r *http.Request, k fault.Kind) []templates.Link {
	var links []templates.Link
	if isReadMethod(r) && (isServerFault(k) || k == fault.RateLimited || k == fault.Upstream) {
		links = append(links, templates.Link{Text: i18n.T(r.Context(), "Try again"), Href: returnPath(r)})
	}
	if referer := CameFrom(r, ""); !isReadMethod(r) && referer != "" {
		links = append(links, templates.Link{Text: i18n.T(r.Context(), "Go back"), Href: referer})
	}
	return append(links, templates.Link{Text: i18n.T(r.Context(), "Go to connectors"), Href: "/connectors"})
}

// returnPath is the page to return to. For a form it is the page that it was on.
func returnPath(r *http.Request) string {
	if isReadMethod(r) {
		return OwnPath(r.URL.RequestURI(), "/")
	}
	return CameFrom(r, "/")
}

func isReadMethod(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

func failureTitle(ctx context.Context, k fault.Kind) string {
	switch k {
	case fault.Denied:
		return i18n.T(ctx, "Not allowed")
	case fault.NotFound:
		return i18n.T(ctx, "Not found")
	case fault.Conflict:
		return i18n.T(ctx, "Not possible right now")
	case fault.TooLarge:
		return i18n.T(ctx, "Too large")
	case fault.Malformed, fault.Invalid, fault.BadMethod:
		return i18n.T(ctx, "Invalid request")
	case fault.RateLimited:
		return i18n.T(ctx, "Too many attempts")
	case fault.Upstream:
		return i18n.T(ctx, "Server problem")
	case fault.Unavailable:
		return i18n.T(ctx, "Unavailable")
	default:
		return i18n.T(ctx, "Something went wrong")
	}
}
