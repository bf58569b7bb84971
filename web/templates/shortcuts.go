package templates

import (
	"context"

	"patchbay/internal/words"
)

// shortcut is a page that opens with g and a letter.
type shortcut struct{ Key, Href, Text string }

// shortcutPages are the pages with shortcuts that the person may open.
func shortcutPages(ctx context.Context, can Can) []shortcut {
	list := []shortcut{
		{"h", "/", words.T(ctx, "Home")}, {"c", "/connectors", words.T(ctx, "Connectors")}, {"o", "/tools", words.T(ctx, "Tools")}, {"a", "/agents", words.T(ctx, "Agents")}, {"l", "/calls", words.T(ctx, "Calls")},
		{"t", "/tasks", words.T(ctx, "Tasks")}, {"p", "/approvals", words.T(ctx, "Approvals")}, {"d", "/changes", words.T(ctx, "Changes")}, {"b", "/catalog", words.T(ctx, "Catalog")}, {"n", "/notices", words.T(ctx, "Notices")},
	}
	if can.Manage {
		list = append(list, shortcut{"w", "/webhooks", words.T(ctx, "Webhooks")})
	}
	if can.Audit {
		list = append(list, shortcut{"u", "/audit", words.T(ctx, "Audit log")})
	}
	if can.Own {
		list = append(list, shortcut{"m", "/members", words.T(ctx, "Members")}, shortcut{"i", "/api-keys", words.T(ctx, "API keys")}, shortcut{"s", "/settings", words.T(ctx, "Settings")})
	}
	return list
}
