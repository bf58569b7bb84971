package templates

import (
	"context"

	"patchbay/internal/i18n"
)

// shortcut is a page that opens with g and a letter.
type shortcut struct{ Key, Href, Text string }

// shortcutPages are the pages with shortcuts that the person may open.
func shortcutPages(ctx context.Context, can Permissions) []shortcut {
	list := []shortcut{
		{"h", "/", i18n.T(ctx, "Home")}, {"c", "/connectors", i18n.T(ctx, "Connectors")}, {"o", "/tools", i18n.T(ctx, "Tools")}, {"a", "/agents", i18n.T(ctx, "Agents")}, {"l", "/calls", i18n.T(ctx, "Calls")},
		{"t", "/tasks", i18n.T(ctx, "Tasks")}, {"p", "/approvals", i18n.T(ctx, "Approvals")}, {"d", "/changes", i18n.T(ctx, "Changes")}, {"b", "/catalog", i18n.T(ctx, "Catalog")}, {"n", "/notices", i18n.T(ctx, "Notifications")},
	}
	if can.Manage {
		list = append(list, shortcut{"w", "/webhooks", i18n.T(ctx, "Webhooks")}, shortcut{"r", "/registries", i18n.T(ctx, "Registries")})
	}
	if can.Audit {
		list = append(list, shortcut{"u", "/audit", i18n.T(ctx, "Audit log")})
	}
	if can.Own {
		list = append(list, shortcut{"m", "/members", i18n.T(ctx, "Members")}, shortcut{"i", "/api-keys", i18n.T(ctx, "API keys")}, shortcut{"s", "/settings", i18n.T(ctx, "Settings")})
	}
	return list
}
