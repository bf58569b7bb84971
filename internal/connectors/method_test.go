package connectors_test

import (
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

func TestMethods_MatchWholeNamesAndPrefixes(t *testing.T) {
	t.Parallel()
	s := connectors.Settings{Methods: []string{"acme/*", "search", "x/y/*", "notifications/acme/*", "notifications/changed"}}
	for _, yes := range []string{"acme/a", "acme/a/b", "search", "x/y/z", "notifications/acme/a", "notifications/changed"} {
		if !s.AllowsMethod(yes) {
			t.Errorf("%q is not allowed", yes)
		}
	}
	for _, no := range []string{
		"", "acme", "acme/", "Acme/a", "search/a", "searching", "x/y", "x/z", "acme/a\r\nX: y", "acme/a b", "acme/ä", "notifications/acme", "notifications/other",
		"tools/call", "initialize", "acme/" + strings.Repeat("a", 96),
	} {
		if s.AllowsMethod(no) {
			t.Errorf("%q is allowed", no)
		}
	}
	if (connectors.Settings{}).AllowsMethod("acme/a") {
		t.Error("a connector without methods allows one")
	}
}

func TestMethods_OfMCPAndUnreadableAreRefused(t *testing.T) {
	t.Parallel()
	validate := func(methods ...string) []fault.Field {
		d := connectors.NewDraft()
		d.Name, d.URL, d.Methods = "A", "https://a.example/mcp", methods
		return d.Normalized().Validate()
	}
	for _, no := range []string{
		"initialize", "ping", "tools/call", "tools/*", "Tools/Call", "tools", "prompts/get", "resources/read", "completion/complete", "logging/setLevel", "tasks/get",
		"subscriptions/listen", "server/discover", "roots/list", "sampling/createMessage", "elicitation/create", "notifications/initialized",
		"notifications/cancelled", "notifications/progress", "notifications/message", "notifications/tools/list_changed", "notifications/tasks/*",
		"notifications/*", "notifications", "*", "/*", "//*", "a*", "a/*/b", "a/b*", "*/a", "a b", "a\n", "ä", "", strings.Repeat("a", 101),
	} {
		if bad := validate(no); len(bad) != 1 || bad[0].Location != "methods" {
			t.Errorf("%q: %v", no, bad)
		}
	}
	if bad := validate("acme/*", "search", "a/b/c", "acme.search", "notifications/acme", "notifications/acme/*", "toolsets/list", strings.Repeat("a", 100)); len(bad) != 0 {
		t.Error(bad)
	}
	if bad := validate(slices.Repeat([]string{"acme/a"}, 51)...); len(bad) != 0 {
		t.Error("duplicates count", bad)
	}
	var many []string
	for i := range 51 {
		many = append(many, "acme/"+strings.Repeat("a", i+1))
	}
	if bad := validate(many...); len(bad) != 1 {
		t.Error(bad)
	}
}
