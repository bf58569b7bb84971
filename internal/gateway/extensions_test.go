package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"patchbay/internal/agentview"
)

// TestAllExtensions_OneServerHidesNoOther gives servers extensions that fit, that grow when they are encoded, and that are large.
func TestAllExtensions_OneServerHidesNoOther(t *testing.T) {
	t.Parallel()
	server := func(name, setting string) *agentview.ConnectorView {
		return &agentview.ConnectorView{Capabilities: json.RawMessage(fmt.Sprintf(`{"extensions":{%q:{"a":"%s"}}}`, name, setting))}
	}
	view := &agentview.View{Connectors: []*agentview.ConnectorView{
		server("x/first", "<"), server("x/grows", strings.Repeat("\u2028", 5000)), server("x/escaped", strings.Repeat("<", 10_000)),
		server("x/large", strings.Repeat("a", 17<<10)), server("x/last", ">"),
	}}
	for i := range 4 {
		view.Connectors = append(view.Connectors, server(fmt.Sprint("x/", i), strings.Repeat("a", 15<<10)))
	}
	view.Connectors = append(view.Connectors, server("x/small", "&"))
	all := allExtensions(view)
	for name, want := range map[string]bool{
		"x/first": true, "x/grows": false, "x/escaped": true, "x/large": false, "x/last": true, "x/0": true, "x/2": true, "x/3": false, "x/small": true,
	} {
		if (all[name] != nil) != want {
			t.Errorf("%s is declared: %t", name, !want)
		}
	}
	encoded, err := encodeJSON(capabilities{Extensions: all})
	if err != nil || len(encoded) > maxExtensions+1000 {
		t.Errorf("%d bytes, %v", len(encoded), err)
	}
}
