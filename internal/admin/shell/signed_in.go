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
		return i18n.T(ctx, "the connector %s alone", slug)
	}
	return i18n.T(ctx, "all connectors of the agent")
}

// SignedInRow shows a program that signed in.
func SignedInRow(ctx context.Context, c connectors.AgentClient, now time.Time) templates.SignedInRow {
	row := templates.SignedInRow{Name: c.Name, Host: c.Host, Used: NewWhen(ctx, c.UsedAt, now)}
	switch c.Scope {
	case "":
		row.Opens = ReachableConnectors(ctx, c.Resource)
	case connectors.ScopeAdmin:
		row.Opens = i18n.T(ctx, "acts as its person, with all that they may do")
	default:
		row.Opens = i18n.T(ctx, "acts as its person, and only reads")
	}
	return row
}
