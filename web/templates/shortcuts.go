package templates

// shortcut is a page that g and a letter lead to.
type shortcut struct{ Key, Href, Text string }

// places are the pages with shortcuts that somebody may open.
func places(can Can) []shortcut {
	list := []shortcut{
		{"h", "/", "Home"}, {"c", "/connectors", "Connectors"}, {"o", "/tools", "Tools"}, {"a", "/agents", "Agents"}, {"l", "/calls", "Calls"},
		{"t", "/tasks", "Tasks"}, {"p", "/approvals", "Approvals"}, {"d", "/changes", "Changes"}, {"b", "/catalog", "Catalog"}, {"n", "/notices", "Notices"},
	}
	if can.Manage {
		list = append(list, shortcut{"w", "/webhooks", "Webhooks"}, shortcut{"u", "/audit", "Audit log"})
	}
	if can.Own {
		list = append(list, shortcut{"m", "/members", "Members"}, shortcut{"i", "/api-keys", "API keys"}, shortcut{"s", "/settings", "Settings"})
	}
	return list
}
