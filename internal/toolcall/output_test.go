package toolcall_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/toolcall"
)

// hostileOutput is a schema with a full check of 2^40 steps.
func hostileOutput() string {
	defs := make([]string, 40)
	for i := range defs {
		defs[i] = fmt.Sprintf(`"a%d":{"allOf":[{"anyOf":[{"$ref":"#/$defs/a%d"},{"type":"array"}]},{"anyOf":[{"type":"array"},{"$ref":"#/$defs/a%d"}]}]}`, i, i+1, i+1)
	}
	return `{"type":"object","properties":{"n":{"$ref":"#/$defs/a0"}},"$defs":{` + strings.Join(defs, ",") + `,"a40":{"type":"string"}}}`
}

// outputCase is a result of a tool with an output schema, and its verdict.
type outputCase struct {
	name, tool, result string
	valid              *bool // nil: not checked
	problem            string
	isError            bool // of the result
}

var outputCases = []outputCase{
	{name: "fits", tool: "count", result: `"content":[],"structuredContent":{"n":1}`, valid: new(true)},
	{name: "does not fit", tool: "count", result: `"content":[],"structuredContent":{"n":"1"}`, valid: new(false), problem: `The field "n" must be an integer.`},
	{name: "missing", tool: "count", result: `"content":[{"type":"text","text":"1"}]`, valid: new(false), problem: "The declared structured content is missing."},
	{name: "null", tool: "count", result: `"content":[],"structuredContent":null`, valid: new(false)},
	{name: "error", tool: "count", result: `"content":[],"isError":true`, isError: true},
	{name: "no schema", tool: "search", result: `"content":[],"structuredContent":{"n":"1"}`},
	{name: "hostile schema", tool: "hostile", result: `"content":[],"structuredContent":{"n":"x"}`},
}

// newOutputBench has a server that answers with a case's result.
func newOutputBench(t testing.TB, c outputCase, refuse, modern bool) (*bench, toolcall.CallRequest) {
	t.Helper()
	var opts []func(*toolcall.Options)
	kind := ""
	if modern {
		opts, kind = append(opts, withModernDialer), `"resultType":"complete",`
	}
	b := newBench(t, opts...)
	must(t, b.Door().RefuseInvalidResults(t.Context(), refuse))
	connector := b.connector(t, b.remote)
	b.syncTools(t, connector,
		`{"name":"count","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`,
		`{"name":"search","inputSchema":{"type":"object"}}`,
		`{"name":"hostile","inputSchema":{"type":"object"},"outputSchema":`+hostileOutput()+`}`)
	b.remote.set(func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method == "tools/call" {
			reply(w, m, `{`+kind+c.result+`}`)
			return true
		}
		return modern && answerModern(nil)(w, r, m)
	})
	request := b.order(t, b.process, b.newTrustedAgent(t, connector), connector, c.tool, `{}`)
	request.AllowPooled = true
	if modern {
		request.MultiRound = true
		markModern(&request)
	}
	return b, request
}

func TestOutput_IsCheckedAndRecorded(t *testing.T) {
	t.Parallel()
	for _, tc := range outputCases {
		for _, refuse := range []bool{false, true} {
			for _, modern := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s refuse=%v modern=%v", tc.name, refuse, modern), func(t *testing.T) {
					t.Parallel()
					tc.run(t, refuse, modern)
				})
			}
		}
	}
}

func (tc outputCase) run(t *testing.T, refuse, modern bool) {
	b, request := newOutputBench(t, tc, refuse, modern)
	started := time.Now()
	out, err := b.Call(t.Context(), request)
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	isRefused := refuse && tc.valid != nil && !*tc.valid
	want := connectors.ToolCall{Status: connectors.CallSuccess, Outcome: connectors.OutcomeOK}
	switch {
	case isRefused:
		r := asRefusal(t, err, toolcall.CodeInvalidResult)
		want.Status, want.ErrorCode = connectors.CallError, "invalid_result"
		if !strings.Contains(r.Sentence, `The tool "count" ran, but its result is withheld`) || !strings.Contains(r.Sentence, tc.problem) || r.CallID != out.CallID {
			t.Errorf("refused with %+v", r)
		}
		if out.Raw != nil || out.PooledResult() != nil {
			t.Errorf("the agent gets %s", out.Raw)
		}
	default:
		must(t, err)
		if !strings.Contains(string(out.Raw), tc.result) {
			t.Errorf("the agent gets %s", out.Raw)
		}
	}
	if tc.isError {
		want.Status, want.Outcome = connectors.CallError, connectors.OutcomeToolError
	}
	row := b.row(t, out.CallID)
	if row.Status != want.Status || row.Outcome != want.Outcome || row.ErrorCode != want.ErrorCode || row.ResponseBytes == 0 {
		t.Errorf("recorded as %s, %s, %q, %d bytes", row.Status, row.Outcome, row.ErrorCode, row.ResponseBytes)
	}
	if (row.StructuredValid == nil) != (tc.valid == nil) || tc.valid != nil && *row.StructuredValid != *tc.valid {
		t.Errorf("the verdict is %v, %q", row.StructuredValid, row.StructuredError)
	}
	if hasProblem := row.StructuredError != ""; hasProblem != (tc.valid != nil && !*tc.valid) || tc.problem != "" && row.StructuredError != tc.problem {
		t.Errorf("the verdict says %q", row.StructuredError)
	}
	if strings.Contains(tc.result, `{"n":"1"}`) && string(row.Structured) != `{"n":"1"}` {
		t.Errorf("the history has %s", row.Structured)
	}
}

func TestOutput_OfTaskIsChecked(t *testing.T) {
	t.Parallel()
	for refuse, want := range map[bool]string{false: `"structuredContent":{"n":"1"}`, true: `"isError":true`} {
		b, request := newOutputBench(t, outputCases[1], refuse, true)
		b.remote.set(answerModern(map[string]func(string) string{
			"tools/call": func(string) string {
				return `{"resultType":"task","taskId":"its-own","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null}`
			},
			"tasks/get": func(string) string {
				return `{"resultType":"complete","taskId":"its-own","status":"completed","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null,"result":{"content":[],"structuredContent":{"n":"1"}}}`
			},
		}))
		request.Task = true
		out, err := b.Call(t.Context(), request)
		must(t, err)
		var task struct{ TaskID string }
		must(t, json.Unmarshal(out.Raw, &task))
		for range 2 { // the client may ask again
			raw, err := b.TaskRequest(t.Context(), request.View, toolcall.Client{MultiRound: true}, "tasks/get", json.RawMessage(fmt.Sprintf(`{"taskId":%q}`, task.TaskID)))
			must(t, err)
			if !strings.Contains(string(raw), want) || strings.Contains(string(raw), `"n":"1"`) == refuse {
				t.Errorf("refuse=%v: the client gets %s", refuse, raw)
			}
		}
		row := b.row(t, out.CallID)
		if row.StructuredValid == nil || *row.StructuredValid || (row.ErrorCode == "invalid_result") != refuse || string(row.Structured) != `{"n":"1"}` {
			t.Errorf("refuse=%v: %s, %q, %v, %q, %s", refuse, row.Status, row.ErrorCode, row.StructuredValid, row.StructuredError, row.Structured)
		}
	}
}

// TestOutput_OfHandshakeTaskIsChecked has a client of 2025-11-25 that asks for a task, and servers that answer with a
// result or with a task.
func TestOutput_OfHandshakeTaskIsChecked(t *testing.T) {
	t.Parallel()
	const result = `"content":[],"structuredContent":{"n":"1"}`
	state := func(kind, status string) string {
		return `{"resultType":"` + kind + `","taskId":"its-own",` + status + `,"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null}`
	}
	for name, answers := range map[string]map[string]func(string) string{
		"result": {"tools/call": func(string) string { return `{"resultType":"complete",` + result + `}` }},
		"task": {
			"tools/call": func(string) string { return state("task", `"status":"working"`) },
			"tasks/get":  func(string) string { return state("complete", `"status":"completed","result":{`+result+`}`) },
		},
	} {
		for _, refuse := range []bool{false, true} {
			b, request := newOutputBench(t, outputCases[1], refuse, true)
			b.remote.set(answerModern(answers))
			request.AllowPooled, request.MultiRound = false, false
			out, params := b.askForTask(t, b.process, request)
			for range 2 {
				raw, err := b.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/result", params)
				must(t, err)
				if strings.Contains(string(raw), `"n":"1"`) == refuse || strings.Contains(string(raw), "is withheld") != refuse {
					t.Errorf("%s, refuse=%v: the client gets %s", name, refuse, raw)
				}
			}
			row := b.row(t, out.CallID)
			if row.StructuredValid == nil || *row.StructuredValid || (row.ErrorCode == "invalid_result") != refuse || string(row.Structured) != `{"n":"1"}` {
				t.Errorf("%s, refuse=%v: %s, %q, %v, %s", name, refuse, row.Status, row.ErrorCode, row.StructuredValid, row.Structured)
			}
		}
	}
}

// BenchmarkCall_Output is a warm call with a structured result of 100 objects, without an output schema (search) and with
// one (count). The ratio of the two is the price of the check.
func BenchmarkCall_Output(b *testing.B) {
	items := make([]string, 100)
	for i := range items {
		items[i] = fmt.Sprintf(`{"id":%d,"title":"Title of the item","labels":["bug","open"],"done":false}`, i)
	}
	result := `{"content":[],"structuredContent":{"items":[` + strings.Join(items, ",") + `]}}`
	for _, tool := range []string{"search", "count"} {
		b.Run(tool, func(b *testing.B) {
			w := newBench(b)
			c := w.connector(b, w.remote)
			w.syncTools(b, c, `{"name":"search","inputSchema":{"type":"object"}}`, `{"name":"count","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["items"],
				"properties":{"items":{"type":"array","items":{"type":"object","required":["id","title"],"properties":{"id":{"type":"integer"},"title":{"type":"string","minLength":1},
				"labels":{"type":"array","items":{"enum":["bug","open","closed"]}},"done":{"type":"boolean"}}}}}}}`)
			w.remote.set(func(rw http.ResponseWriter, _ *http.Request, m message) bool {
				if m.Method != "tools/call" {
					return false
				}
				reply(rw, m, result)
				return true
			})
			a := w.newTrustedAgent(b, c, func(a *connectors.Agent) { a.CallsPerMinute = connectors.MaxCallsPerMinute })
			request := w.order(b, w.process, a, c, tool, `{}`)
			for b.Loop() {
				_, err := w.Call(b.Context(), request)
				must(b, err)
			}
		})
	}
}
