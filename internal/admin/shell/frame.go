package shell

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web"
	"patchbay/web/templates"
)

// Actor is the signed-in person of a request.
func Actor(r *http.Request) auth.Actor {
	a, _ := auth.ActorFrom(r.Context())
	return a
}

// NewFrame is a page's frame. The breadcrumbs lead from the tenant to the page, which is the last.
func (h *Shell) NewFrame(r *http.Request, nav templates.Nav, crumbs ...templates.Crumb) templates.Frame {
	a := Actor(r)
	f := baseFrame(r.Context(), a, crumbs...)
	f.Path, f.Active = r.URL.RequestURI(), nav
	h.loadBadges(r.Context(), a, &f)
	if flash, ok := h.Respond.TakeFlash(r.Context()); ok {
		f.Flash = newFlash(r.Context(), flash)
	}
	return f
}

// baseFrame is the part of the frame that needs no query.
func baseFrame(ctx context.Context, a auth.Actor, crumbs ...templates.Crumb) templates.Frame {
	f := templates.Frame{
		Title:  crumbs[len(crumbs)-1].Text,
		Asset:  web.Asset,
		Crumbs: append([]templates.Crumb{{Text: a.Tenant.Name, Href: "/"}}, crumbs...),
		Person: &templates.Person{Name: a.Name, Email: a.Email, Role: RoleName(ctx, a.Role)},
		Tenant: templates.TenantChoice{Slug: a.Tenant.Slug, Name: a.Tenant.Name, Sample: a.Tenant.Sample},
		Can:    ToPermissions(a.Role),
		Listen: FrameEvents, Identity: PageIdentity(a),
	}
	if a.ReauthenticatedAt != nil {
		f.ConfirmedUntil = a.ReauthenticatedAt.Add(auth.RecentAuthTTL)
	}
	for _, m := range a.Memberships {
		f.Tenants = append(f.Tenants, templates.TenantChoice{Slug: m.Tenant.Slug, Name: m.Tenant.Name})
	}
	return f
}

// FrameEvents is the event stream of a page without live content: it keeps the counts of the frame current.
const FrameEvents = "/events?on=frame"

// loadBadges counts waiting calls, waiting changes and all that needs attention. If the query fails, the page is
// shown without badges.
func (h *Shell) loadBadges(ctx context.Context, a auth.Actor, f *templates.Frame) {
	n, err := h.store.Tenant(a.Tenant.ID).Badges(ctx)
	if err != nil {
		h.Log.WarnContext(ctx, "badges not counted", "tenant_id", a.Tenant.ID, "error", err)
		return
	}
	counts := ToBadges(a.Role, n)
	f.Waiting, f.Changes, f.Needs = counts.Waiting, counts.Changes, counts.Needs
}

// ToBadges returns the counts that a role sees, as the home page lists them.
func ToBadges(role connectors.Role, n store.BadgeCounts) templates.Badges {
	if !role.May(connectors.PermManage) {
		n.Requests = 0
	}
	return templates.Badges{Waiting: n.Approvals, Changes: n.Changes, Needs: n.Total()}
}

// ToPermissions returns what a role may do, for templates.
func ToPermissions(role connectors.Role) templates.Permissions {
	return templates.Permissions{
		Sync:   role.May(connectors.PermOperate),
		Manage: role.May(connectors.PermManage),
		Bodies: role.May(connectors.PermBodies),
		Audit:  role.May(connectors.PermAudit),
		Own:    role.May(connectors.PermOwn),
	}
}

// SignedOutFrame is the frame of a page without a signed-in person.
func (h *Shell) SignedOutFrame(r *http.Request, title string) templates.Frame {
	f := templates.Frame{Title: title, Asset: web.Asset, Path: r.URL.Path}
	if flash, ok := h.Respond.TakeFlash(r.Context()); ok {
		f.Flash = newFlash(r.Context(), flash)
	}
	return f
}

func newFlash(ctx context.Context, f respond.Flash) *templates.Flash {
	flash := &templates.Flash{Kind: templates.FlashKind(f.Kind), Text: f.Text, Said: respond.NewQuote(ctx, f.Said)}
	if f.Undo != nil {
		flash.Undo = &templates.Undo{Action: f.Undo.Action}
		for _, name := range slices.Sorted(maps.Keys(f.Undo.Form)) {
			for _, value := range f.Undo.Form[name] {
				flash.Undo.Fields = append(flash.Undo.Fields, templates.HiddenField{Name: name, Value: value})
			}
		}
	}
	return flash
}

// NewCrumb returns a breadcrumb; without href it is the page itself.
func NewCrumb(text, href string) templates.Crumb { return templates.Crumb{Text: text, Href: href} }
