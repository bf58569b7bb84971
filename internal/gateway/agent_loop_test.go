package gateway_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/toolsearch/searchset"
)

// loopServers are the servers of the search set that the scripted agent reaches.
var loopServers = []string{"airtable", "discord", "figma", "filesystem", "git", "github", "memory", "n8n", "notion", "petstore", "playwright", "slack", "weather"}

// receivedCall is a call that a server got.
type receivedCall struct {
	Server, Tool string
	Arguments    map[string]any
}

// callRecord has the calls of all servers.
type callRecord struct {
	mu    sync.Mutex // guards calls
	calls []receivedCall
}

// takeCalls returns the calls since the last time.
func (r *callRecord) takeCalls() []receivedCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// addRecorder adds a tool of the search set that records its calls.
func (r *callRecord) addRecorder(t *testing.T, u *upstream, d searchset.Definition) {
	t.Helper()
	tool := &sdk.Tool{Name: d.Name, Title: d.Title, Description: d.Description, InputSchema: d.InputSchema}
	if d.Annotations != nil {
		if err := json.Unmarshal(d.Annotations, &tool.Annotations); err != nil {
			t.Fatal(err)
		}
	}
	u.AddTool(tool, func(_ context.Context, q *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		got := receivedCall{Server: d.Server, Tool: d.Name}
		if err := json.Unmarshal(q.Params.Arguments, &got.Arguments); err != nil {
			return nil, err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls = append(r.calls, got)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
	})
}

// foundTool is what a scripted agent knows of a tool.
type foundTool struct {
	CallWith   string `json:"call_with"`
	Definition struct {
		Name        string
		InputSchema map[string]any
	} `json:"definition"`
}

// findTool searches a tool with words, and reads its definition. ok is false if it is not among the first ten.
func findTool(t *testing.T, s *sdk.ClientSession, words, name string) (tool foundTool, ok bool) {
	t.Helper()
	var answer struct {
		Tools []foundTool
		More  []struct{ Name string }
	}
	read := func(r *sdk.CallToolResult) {
		answer.Tools = nil
		if err := json.Unmarshal([]byte(textOf(r)), &answer); err != nil {
			t.Fatalf("%.300s: %v", textOf(r), err)
		}
	}
	isWanted := func(f foundTool) bool { return f.Definition.Name == name }
	read(call(t, s, "find_tools", map[string]any{"words": words}))
	if i := slices.IndexFunc(answer.Tools, isWanted); i >= 0 {
		return answer.Tools[i], true
	}
	if !slices.Contains(answer.More, struct{ Name string }{name}) {
		return tool, false
	}
	read(call(t, s, "describe_tools", map[string]any{"names": []string{name}}))
	if len(answer.Tools) != 1 || !isWanted(answer.Tools[0]) {
		t.Fatalf("%s is described as %+v", name, answer.Tools)
	}
	return answer.Tools[0], true
}

// TestLeanList_ScriptedAgentDoes50Tasks gives an agent with a lean list the tools of 13 servers of the search set. For each task, it
// finds a tool with the words of a question, reads its definition, and calls it with arguments that satisfy the schema. The server
// gets exactly that call. A seed chooses the questions among those of tools that the search finds in its first ten: how many others
// there are is measured in internal/toolsearch. Tools with a schema that needs a text of a pattern or format are left out.
func TestLeanList_ScriptedAgentDoes50Tasks(t *testing.T) {
	t.Parallel()
	const tasks = 50
	b := newTestEnv(t)
	agent := b.newAutoAgent(t, lean)
	record := &callRecord{}
	definitions, err := searchset.ReadDefinitions("../toolsearch/testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range loopServers {
		u := newUpstream(t, sdk.StreamableHTTPOptions{})
		for _, d := range definitions {
			if d.Server == server {
				record.addRecorder(t, u, d)
			}
		}
		b.Grant(t, agent.ID, b.newConnector(t, server, u.url).ID)
	}
	questions, err := searchset.ReadQuestions("../toolsearch/testdata")
	if err != nil {
		t.Fatal(err)
	}
	questions = slices.DeleteFunc(questions, func(q searchset.Question) bool { return !slices.Contains(loopServers, q.Server) })
	random := rand.New(rand.NewPCG(50, 26))
	random.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	token, servers, callers := b.Token(t, agent.ID), map[string]bool{}, map[string]bool{}
	for _, e := range eras {
		s, done := connect(t, b.url+"/mcp", token, e), 0
		for _, q := range questions {
			tool, found := findTool(t, s, q.Text, "mcp_"+q.Server+"__"+q.Tool)
			if !found {
				continue
			}
			arguments, ok := sampleValue(tool.Definition.InputSchema).(map[string]any)
			if !ok {
				continue
			}
			if answer := call(t, s, tool.CallWith, map[string]any{"name": tool.Definition.Name, "arguments": arguments}); answer.IsError || textOf(answer) != "done" {
				t.Errorf("%s: %s: %s answers %s", e, q.Text, tool.CallWith, textOf(answer))
			}
			if diff := cmp.Diff([]receivedCall{{q.Server, q.Tool, arguments}}, record.takeCalls()); diff != "" {
				t.Errorf("%s: %s: %s", e, q.Text, diff)
			}
			servers[q.Server], callers[tool.CallWith] = true, true
			if done++; done == tasks {
				break
			}
		}
		if done != tasks {
			t.Errorf("%s: %d tasks were done", e, done)
		}
	}
	if len(servers) < 8 || len(callers) != 3 {
		t.Errorf("the tasks reach %d servers through %d tools", len(servers), len(callers))
	}
}

// sampleValue returns a value that satisfies a JSON Schema; nil: it needs a form that this does not know.
func sampleValue(schema any) any {
	s, _ := schema.(map[string]any)
	if values, ok := s["enum"].([]any); ok {
		return values[0]
	}
	if value, ok := s["const"]; ok {
		return value
	}
	for _, choice := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[choice].([]any); ok && s["type"] == nil {
			return sampleValue(list[0])
		}
	}
	kind, _ := s["type"].(string)
	if kinds, ok := s["type"].([]any); ok {
		kind, _ = kinds[0].(string)
	}
	lowest := func(name string) float64 { n, _ := s[name].(float64); return n }
	switch kind {
	case "object":
		return sampleObject(s)
	case "array":
		list := []any{}
		for range int(lowest("minItems")) {
			list = append(list, sampleValue(s["items"]))
		}
		if slices.ContainsFunc(list, func(v any) bool { return v == nil }) {
			return nil
		}
		return list
	case "boolean":
		return true
	case "integer", "number":
		return max(lowest("minimum"), lowest("exclusiveMinimum")+1)
	case "string", "":
		if s["pattern"] != nil || s["format"] != nil || s["$ref"] != nil {
			return nil
		}
		text := "some words"
		for len(text) < int(lowest("minLength")) {
			text += " and more"
		}
		if longest, ok := s["maxLength"].(float64); ok {
			text = text[:min(len(text), int(longest))]
		}
		return text
	}
	return nil
}

// sampleObject returns an object with the required members.
func sampleObject(schema map[string]any) any {
	object := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range required {
		value := sampleValue(properties[name.(string)])
		if value == nil {
			return nil
		}
		object[name.(string)] = value
	}
	return object
}
