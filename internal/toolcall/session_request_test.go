package toolcall

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/revision"
)

// TestSessionRequest_CarriesExtensions checks the capabilities that are a part of the session's key.
func TestSessionRequest_CarriesExtensions(t *testing.T) {
	t.Parallel()
	const ui = `"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["a","b"]}}`
	const shown = `"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}`
	sender := &callSender{o: &Options{Now: time.Now}, extensionSets: newExtensionSets()}
	for name, tc := range map[string]struct {
		capabilities string
		answers      bool
		server       string
		want         string
		perAgent     bool
	}{
		"none":              {capabilities: `{}`},
		"extensions":        {capabilities: `{"extensions":{ "io.modelcontextprotocol/ui":{"mimeTypes": ["a","b"]}, "io.modelcontextprotocol/tasks":{}}}`, want: `{` + ui + `}`},
		"tasks alone":       {capabilities: `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
		"no answers":        {capabilities: `{"roots":{},` + ui + `}`, want: `{` + ui + `}`},
		"answers":           {capabilities: `{"roots":{},` + ui + `}`, answers: true, want: `{"roots":{},` + ui + `}`, perAgent: true},
		"extensions, shown": {capabilities: `{` + ui + `}`, answers: true, want: `{` + ui + `}`},
		"not the server's":  {capabilities: `{"extensions":{"x/y":{},"a/b":{}}}`, server: `{"extensions":{"x/z":{}}}`},
		"the server's":      {capabilities: `{"extensions":{"x/y":{"a":"<"},"a/b":{}}}`, server: `{"extensions":{"x/y":{}}}`, want: `{"extensions":{"x/y":{"a":"<"}}}`},
		"of apps, none":     {capabilities: `{}`, server: `{` + ui + `}`, want: `{` + shown + `}`},
		"of apps, its own":  {capabilities: `{` + ui + `}`, server: `{` + shown + `}`, want: `{` + ui + `}`},
		"grows":             {capabilities: `{"extensions":{"x/y":{"a":"` + strings.Repeat("\u2028", 1000) + `"}}}`, server: `{"extensions":{"x/y":{}}}`},
		"too large":         {capabilities: `{"roots":{},"extensions":{"x/y":{"a":"` + strings.Repeat("a", mcp.MaxClientExtensions) + `"}}}`, answers: true, want: `{"roots":{}}`, perAgent: true},
	} {
		client := Client{Capabilities: json.RawMessage(tc.capabilities)}
		w := sender.newSessionRequest(&agentview.View{}, &agentview.ConnectorView{
			Connector:    connectors.Connector{Settings: connectors.Settings{Transport: connectors.TransportStdio}},
			Capabilities: json.RawMessage(tc.server),
		}, client, tc.answers)
		if w.Capabilities != tc.want || w.PerAgent != tc.perAgent {
			t.Errorf("%s: %s, for one agent: %t", name, w.Capabilities, w.PerAgent)
		}
	}
	if got := string(withUIExtension(json.RawMessage(`{"a":1,"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`))); got !=
		`{"a":1,"io.modelcontextprotocol/clientCapabilities":{`+shown+`,"roots":{}}}` {
		t.Errorf("with apps: %s", got)
	}
	meta := withTaskExtension(nil, `{`+ui+`}`)
	want := `{"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/ui":{"mimeTypes":["a","b"]}}}}`
	if string(meta) != want {
		t.Errorf("with tasks: %s, want %s", meta, want)
	}
}

// TestSessionRequest_BoundsExtensionSets checks that an agent's clients cannot open sessions without end.
func TestSessionRequest_BoundsExtensionSets(t *testing.T) {
	t.Parallel()
	now := time.Now()
	sender := &callSender{o: &Options{Now: func() time.Time { return now }}, extensionSets: newExtensionSets()}
	connector := &agentview.ConnectorView{Capabilities: json.RawMessage(`{"extensions":{"x/y":{},"io.modelcontextprotocol/ui":{}}}`)}
	request := func(agent *agentview.View, settings int) string {
		client := Client{Capabilities: json.RawMessage(fmt.Sprintf(`{"extensions":{"x/y":{"a":%d}}}`, settings))}
		return sender.newSessionRequest(agent, connector, client, false).Capabilities
	}
	first, second := &agentview.View{}, &agentview.View{}
	second.Agent.ID.UUID[0] = 1
	keys := map[string]bool{}
	for range 2 {
		for i := range 30 {
			keys[request(first, i)] = true
		}
	}
	if len(keys) != maxExtensionSets+1 || !keys[`{"extensions":{"io.modelcontextprotocol/ui":`+revision.UISettings+`}}`] {
		t.Errorf("%d sessions: %v", len(keys), keys)
	}
	if got := request(second, 29); !strings.Contains(got, `{"a":29}`) {
		t.Errorf("another agent: %s", got)
	}
	now = now.Add(extensionSetIdle + time.Second)
	if got := request(first, 29); !strings.Contains(got, `{"a":29}`) {
		t.Errorf("after a pause: %s", got)
	}
}
