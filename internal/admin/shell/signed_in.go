package shell

import (
	"context"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// ReachableConnectors describes the connectors of the resource that a program signed in to.
func ReachableConnectors(ctx context.Context, resource string) string {
	if _, slug, one := strings.Cut(strings.TrimPrefix(resource, "/"), "/"); one {
		return i18n.T(ctx, "%s only", slug)
	}
	return i18n.T(ctx, "the agent's connectors")
}

// SignedInRow shows a program that signed in.
func SignedInRow(ctx context.Context, c connectors.AgentClient, now time.Time) templates.SignedInRow {
	row := templates.SignedInRow{Name: c.Name, Host: c.Host, Used: NewWhen(ctx, c.UsedAt, now)}
	switch c.Scope {
	case "":
		row.Opens = ReachableConnectors(ctx, c.Resource)
	case connectors.ScopeAdmin:
		row.Opens = i18n.T(ctx, "acts as member, all permissions")
	default:
		row.Opens = i18n.T(ctx, "acts as member, read-only")
	}
	return row
}
