package admin

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web"
	"patchbay/web/templates"
)

// actor is the signed-in person of a request.
func actor(r *http.Request) auth.Actor {
	a, _ := auth.ActorFrom(r.Context())
	return a
}

// newFrame is a page's frame. The breadcrumbs lead from the tenant to the page, which is the last.
func (h *Handler) newFrame(r *http.Request, nav templates.Nav, crumbs ...templates.Crumb) templates.Frame {
	a := actor(r)
	f := baseFrame(r.Context(), a, crumbs...)
	f.Path, f.Active = r.URL.RequestURI(), nav
	if nav == templates.NavConnectors {
		f.Listen = "/events"
	}
	badges := h.loadBadges(r.Context(), a)
	f.Waiting, f.Changes, f.Unread = badges.Approvals, badges.Changes, badges.Unread
	if flash, ok := h.respond.TakeFlash(r.Context()); ok {
		f.Flash = &templates.Flash{Kind: templates.FlashKind(flash.Kind), Text: flash.Text}
	}
	return f
}

// baseFrame is the part of the frame that needs no query.
func baseFrame(ctx context.Context, a auth.Actor, crumbs ...templates.Crumb) templates.Frame {
	f := templates.Frame{
		Title:  crumbs[len(crumbs)-1].Text,
		Asset:  web.Asset,
		Crumbs: append([]templates.Crumb{{Text: a.Tenant.Name, Href: "/"}}, crumbs...),
		Person: &templates.Person{Name: a.Name, Email: a.Email, Role: roleName(ctx, a.Role)},
		Tenant: templates.TenantChoice{Slug: a.Tenant.Slug, Name: a.Tenant.Name},
		Can:    toPermissions(a.Role),
	}
	for _, m := range a.Memberships {
		f.Tenants = append(f.Tenants, templates.TenantChoice{Slug: m.Tenant.Slug, Name: m.Tenant.Name})
	}
	return f
}

// loadBadges counts waiting calls, waiting changes and unread notices. If the query fails, the page is shown
// without badges.
func (h *Handler) loadBadges(ctx context.Context, a auth.Actor) store.BadgeCounts {
	n, err := h.store.Tenant(a.Tenant.ID).News(ctx, a.UserID)
	if err != nil {
		h.log.WarnContext(ctx, "news not counted", "tenant_id", a.Tenant.ID, "error", err)
		return store.BadgeCounts{}
	}
	return n
}

func toPermissions(role connectors.Role) templates.Permissions {
	return templates.Permissions{
		Sync:   role.May(connectors.PermOperate),
		Manage: role.May(connectors.PermManage),
		Bodies: role.May(connectors.PermBodies),
		Audit:  role.May(connectors.PermAudit),
		Own:    role.May(connectors.PermOwn),
	}
}

// signedOutFrame is the frame of a page without a signed-in person.
func (h *Handler) signedOutFrame(r *http.Request, title string) templates.Frame {
	f := templates.Frame{Title: title, Asset: web.Asset, Path: r.URL.Path}
	if flash, ok := h.respond.TakeFlash(r.Context()); ok {
		f.Flash = &templates.Flash{Kind: templates.FlashKind(flash.Kind), Text: flash.Text}
	}
	return f
}

func newCrumb(text, href string) templates.Crumb { return templates.Crumb{Text: text, Href: href} }
