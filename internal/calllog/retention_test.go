package calllog_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
)

// The mark is longer than the secret.
func TestRedact_LongerResultIsKept(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	b.tenant.CallHistory = connectors.HistoryRedacted
	e := b.writer.Begin(b.tenant, b.newCall())
	content, err := json.Marshal([]map[string]string{{"type": "text", "text": string(bytes.Repeat([]byte("pwd=1 "), 33_000))}})
	if err != nil {
		t.Fatal(err)
	}
	structured := append(append([]byte(`{"a":[`), bytes.TrimSuffix(bytes.Repeat([]byte(`{"pwd":1},`), 19_900), []byte(","))...), `]}`...)
	if len(content) > connectors.MaxHistoryBytes || len(structured) > connectors.MaxHistoryBytes {
		t.Fatal(len(content), len(structured))
	}
	c := e.End(func(c *connectors.ToolCall) {
		succeedWith("")(c)
		c.Content, c.Structured = content, structured
	})
	b.writer.Flush(t.Context())
	got, err := b.Door().Calls().Get(t.Context(), c.ID)
	if err != nil || len(got.Content) < 2*len(content) || len(got.Structured) < 2*len(structured) || !json.Valid(got.Content) || !json.Valid(got.Structured) {
		t.Errorf("%d bytes are %d, %d are %d: %v", len(content), len(got.Content), len(structured), len(got.Structured), err)
	}
}

func TestApplyRetention_QuotesWhatAFailedToolSaid(t *testing.T) {
	t.Parallel()
	text := func(s string) []byte {
		return []byte(`[{"type":"image","data":"aGk="},{"type":"text","text":"` + s + `"}]`)
	}
	for name, tc := range map[string]struct {
		content   []byte
		isError   bool
		retention connectors.CallHistory
		want      string
	}{
		"the first text":  {text(`\n The API answered: 429.\nTry later.`), true, connectors.HistoryFull, "The API answered: 429.\nTry later."},
		"redacted":        {text("Bearer sk-live-4f9aZ8q1Xy7Pw2Lm5Rt6"), true, connectors.HistoryRedacted, "Bearer [redacted]"},
		"nothing is kept": {text("The API answered: 429."), true, connectors.HistoryNone, ""},
		"a success":       {text("Fine."), false, connectors.HistoryFull, ""},
		"no text":         {[]byte(`[{"type":"image","data":"aGk="}]`), true, connectors.HistoryFull, ""},
		"no list":         {[]byte(`{"text":"x"}`), true, connectors.HistoryFull, ""},
	} {
		c := connectors.ToolCall{IsError: tc.isError, Content: tc.content}
		calllog.ApplyRetention(&c, tc.retention)
		said := ""
		if c.Upstream != nil {
			said = c.Upstream.Said
		}
		if said != tc.want {
			t.Errorf("%s: %q, want %q", name, said, tc.want)
		}
	}
	c := connectors.ToolCall{IsError: true, Content: text(strings.Repeat("word ", 10_000))}
	if calllog.ApplyRetention(&c, connectors.HistoryFull); len(c.Upstream.Said) > connectors.MaxSaid {
		t.Errorf("%d bytes", len(c.Upstream.Said))
	}
}
