package connectors_test

import (
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func TestWithoutBodies_KeepsOnlyState(t *testing.T) {
	t.Parallel()
	whole := connectors.ToolCall{
		Tool: "search", Status: connectors.CallRunning, RequestBytes: 9,
		Arguments: []byte(`{"q":"hush"}`), Content: []byte(`["hush"]`), Structured: []byte(`{"hush":1}`),
		Task:     []byte(`{"taskId":"hush","status":"working","statusMessage":"hush","createdAt":"2026-11-21T10:00:00Z","ttlMs":60000,"result":{"hush":1},"hush":2}`),
		Progress: &connectors.CallProgress{Done: new(3.0), Total: 10, Message: "hush"},
	}
	got := whole.WithoutBodies()
	if text, err := json.Marshal(got); err != nil || strings.Contains(string(text), "hush") {
		t.Errorf("%s, %v", text, err)
	}
	if got.Arguments != nil || got.Content != nil || got.Structured != nil || got.Progress.Message != "" || !got.Withheld {
		t.Errorf("%+v", got)
	}
	if got.Tool != "search" || got.RequestBytes != 9 || *got.Progress.Done != 3 || got.Progress.Total != 10 {
		t.Errorf("what is no body is gone: %+v", got)
	}
	if want := `{"status":"working","createdAt":"2026-11-21T10:00:00Z","ttlMs":60000}`; string(got.Task) != want {
		t.Errorf("the task is %s, want %s", got.Task, want)
	}
	if whole.Progress.Message != "hush" || whole.Arguments == nil || whole.Withheld {
		t.Error("the call itself is another one now")
	}
}

func TestWithoutBodies_RedactsURIAndMessage(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"crm://customers/hush":                "crm://customers/…",
		"patchbay+crm:crm://customers/hush/x": "patchbay+crm:crm://customers/…",
		"https://hush@example.com?hush":       "https://example.com/…",
		"https://example.com":                 "https://example.com",
		"mailto:hush@example.com":             "mailto:…",
		"hush":                                "…",
	} {
		got := connectors.ToolCall{Kind: connectors.CallResource, Tool: uri, ExposedName: uri}.WithoutBodies()
		if got.Tool != want || got.ExposedName != want {
			t.Errorf("%s becomes %s and %s, want %s", uri, got.Tool, got.ExposedName, want)
		}
	}
	bad := connectors.ToolCall{Kind: connectors.CallTool, Tool: "search", ErrorCode: "invalid_arguments", ErrorMessage: "arguments.hush is not known"}
	if got := bad.WithoutBodies(); got.ErrorMessage != "" || got.Tool != "search" || !bad.HasBodies() {
		t.Errorf("%+v", got)
	}
}

func TestWithoutBodies_DropsTaskTexts(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		``:                                     ``,
		`null`:                                 `{}`,
		`["hush"]`:                             ``,
		`{"status":"hush"}`:                    `{}`,
		`{"status":{"hush":1},"ttlMs":"hush"}`: `{}`,
		`{"status":"failed","createdAt":"hush","lastUpdatedAt":"2026-11-21T10:00:00+02:00"}`: `{"status":"failed","lastUpdatedAt":"2026-11-21T10:00:00+02:00"}`,
	} {
		if have := string(connectors.ToolCall{Task: []byte(raw)}.WithoutBodies().Task); have != want {
			t.Errorf("%s becomes %s, want %s", raw, have, want)
		}
	}
}
