package toolcall

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

// TestSessionRequest_CarriesExtensions checks the capabilities that are a part of the session's key.
func TestSessionRequest_CarriesExtensions(t *testing.T) {
	t.Parallel()
	const ui = `"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["a","b"]}}`
	answer := func(context.Context, mcp.InputRequest) (json.RawMessage, error) { return nil, nil }
	for name, tc := range map[string]struct {
		capabilities string
		answers      bool
		want         string
		perAgent     bool
	}{
		"none":              {capabilities: `{}`},
		"extensions":        {capabilities: `{"extensions":{ "io.modelcontextprotocol/ui":{"mimeTypes": ["a","b"]}, "io.modelcontextprotocol/tasks":{}}}`, want: `{` + ui + `}`},
		"tasks alone":       {capabilities: `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
		"no answers":        {capabilities: `{"roots":{},` + ui + `}`, want: `{` + ui + `}`},
		"answers":           {capabilities: `{"roots":{},` + ui + `}`, answers: true, want: `{"roots":{},` + ui + `}`, perAgent: true},
		"extensions, shown": {capabilities: `{` + ui + `}`, answers: true, want: `{` + ui + `}`},
		"too large":         {capabilities: `{"roots":{},"extensions":{"x/y":{"a":"` + strings.Repeat("a", mcp.MaxClientExtensions) + `"}}}`, answers: true, want: `{"roots":{}}`, perAgent: true},
	} {
		client := Client{Capabilities: json.RawMessage(tc.capabilities)}
		if tc.answers {
			client.SendRequest = answer
		}
		connector := &agentview.ConnectorView{Connector: connectors.Connector{Settings: connectors.Settings{Transport: connectors.TransportStdio}}}
		w := newSessionRequest(&agentview.View{}, connector, client)
		if w.Capabilities != tc.want || w.PerAgent != tc.perAgent {
			t.Errorf("%s: %s, for one agent: %t", name, w.Capabilities, w.PerAgent)
		}
	}
	meta := withTaskExtension(nil, `{`+ui+`}`)
	want := `{"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/ui":{"mimeTypes":["a","b"]}}}}`
	if string(meta) != want {
		t.Errorf("with tasks: %s, want %s", meta, want)
	}
}
