package respond

import (
	"context"
	"net/http"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/fault"
	"patchbay/internal/words"
	"patchbay/web"
	"patchbay/web/templates"
)

// errorPage says why there is no page. It knows no person: what failed may be what finds out.
func errorPage(r *http.Request, f *fault.Error) templ.Component {
	page := templates.ErrorPage{
		Frame:  templates.Frame{Title: headline(r.Context(), f.Kind), Asset: web.Asset, Path: r.URL.Path},
		Status: Status(f.Kind),
		Title:  headline(r.Context(), f.Kind),
		Text:   f.Message,
		Links:  []templates.Link{{Text: words.T(r.Context(), "Go to the connectors"), Href: "/connectors"}},
	}
	if f.Kind == fault.Internal || f.Kind == fault.Unavailable {
		page.RequestID = middleware.GetReqID(r.Context())
	}
	return templates.Error(page)
}

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
