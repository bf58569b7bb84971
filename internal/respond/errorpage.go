package respond

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/fault"
	"patchbay/web"
	"patchbay/web/templates"
)

// errorPage says why there is no page. It knows no person: what failed may be what finds out.
func errorPage(r *http.Request, f *fault.Error) templ.Component {
	page := templates.ErrorPage{
		Frame:  templates.Frame{Title: headline(f.Kind), Asset: web.Asset, Path: r.URL.Path},
		Status: Status(f.Kind),
		Title:  headline(f.Kind),
		Text:   f.Message,
		Links:  []templates.Link{{Text: "Go to the connectors", Href: "/connectors"}},
	}
	if f.Kind == fault.Internal || f.Kind == fault.Unavailable {
		page.RequestID = middleware.GetReqID(r.Context())
	}
	return templates.Error(page)
}

func headline(k fault.Kind) string {
	switch k {
	case fault.Denied:
		return "You may not do this"
	case fault.NotFound:
		return "There is nothing here"
	case fault.Conflict:
		return "Not possible now"
	case fault.TooLarge:
		return "That is too large"
	case fault.Malformed, fault.Invalid, fault.BadMethod:
		return "This cannot be done as asked"
	case fault.RateLimited:
		return "Too many tries"
	case fault.Upstream:
		return "The server did not play along"
	case fault.Unavailable:
		return "Not available now"
	default:
		return "Something went wrong"
	}
}
