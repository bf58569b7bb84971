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

// actor is who makes an identified request.
func actor(r *http.Request) auth.Actor {
	a, _ := auth.ActorFrom(r.Context())
	return a
}

// frame is what surrounds a page. The crumbs lead from the tenant to the page; the last one names it.
func (h *Handler) frame(r *http.Request, nav templates.Nav, crumbs ...templates.Crumb) templates.Frame {
	a := actor(r)
	f := frameOf(r.Context(), a, crumbs...)
	f.Path, f.Active = r.URL.RequestURI(), nav
	if nav == templates.NavConnectors {
		f.Listen = "/events"
	}
	news := h.news(r.Context(), a)
	f.Waiting, f.Changes, f.Unread = news.Approvals, news.Changes, news.Unread
	if flash, ok := h.respond.TakeFlash(r.Context()); ok {
		f.Flash = &templates.Flash{Kind: templates.FlashKind(flash.Kind), Text: flash.Text}
	}
	return f
}

// frameOf is what of the frame needs nothing but the person.
func frameOf(ctx context.Context, a auth.Actor, crumbs ...templates.Crumb) templates.Frame {
	f := templates.Frame{
		Title:  crumbs[len(crumbs)-1].Text,
		Asset:  web.Asset,
		Crumbs: append([]templates.Crumb{{Text: a.Tenant.Name, Href: "/"}}, crumbs...),
		Person: &templates.Person{Name: a.Name, Email: a.Email, Role: roleName(ctx, a.Role)},
		Tenant: templates.TenantChoice{Slug: a.Tenant.Slug, Name: a.Tenant.Name},
		Can:    abilities(a.Role),
	}
	for _, m := range a.Memberships {
		f.Tenants = append(f.Tenants, templates.TenantChoice{Slug: m.Tenant.Slug, Name: m.Tenant.Name})
	}
	return f
}

// news is how many calls and changes of tools wait for a person, and how many notices this one has not read. A page is worth more than its badges: where they
// cannot be counted, the page has none.
func (h *Handler) news(ctx context.Context, a auth.Actor) store.News {
	n, err := h.store.Tenant(a.Tenant.ID).News(ctx, a.UserID)
	if err != nil {
		h.log.WarnContext(ctx, "news not counted", "tenant_id", a.Tenant.ID, "error", err)
		return store.News{}
	}
	return n
}

func abilities(role connectors.Role) templates.Can {
	return templates.Can{
		Sync:   role.May(connectors.PermOperate),
		Manage: role.May(connectors.PermManage),
		Bodies: role.May(connectors.PermBodies),
		Audit:  role.May(connectors.PermAudit),
		Own:    role.May(connectors.PermOwn),
	}
}

// door is the frame of a page that nobody is signed in to.
func (h *Handler) door(r *http.Request, title string) templates.Frame {
	f := templates.Frame{Title: title, Asset: web.Asset, Path: r.URL.Path}
	if flash, ok := h.respond.TakeFlash(r.Context()); ok {
		f.Flash = &templates.Flash{Kind: templates.FlashKind(flash.Kind), Text: flash.Text}
	}
	return f
}

func crumb(text, href string) templates.Crumb { return templates.Crumb{Text: text, Href: href} }
