package toolcall_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/shaping"
	"patchbay/internal/toolcall"
)

// keepAnswer shortens an answer of the tool, and returns how its agent reads the whole one.
func (b *bench) keepAnswer(t *testing.T, a connectors.Agent, c connectors.Connector) (read func(change func(*agentview.View, *agentview.Tool)) error) {
	t.Helper()
	request, id := b.order(t, b.process, a, c, "search", ""), toolcall.NewCallID()
	tool := *request.Tool
	tool.Shaping = connectors.Shaping{Budget: 200}
	out := &toolcall.Outcome{CallID: id, Raw: json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("some words ", 1000) + `"}]}`)}
	if b.ShapeAnswer(t.Context(), request.View, &tool, out, shaping.Notice{ID: id.String()}) == nil {
		t.Fatal("the answer is not shortened")
	}
	return func(change func(*agentview.View, *agentview.Tool)) error {
		view, err := b.keeper.LoadUncached(t.Context(), b.Tenant, connectors.Ref(a.ID.String()))
		must(t, err)
		if change != nil {
			change(view, view.Connector(c.Slug).Tool("search"))
		}
		q := toolcall.ReadRequest{View: view, ID: id.String()}
		_, err = b.ReadAnswer(t.Context(), q, shaping.ReadRequest{})
		_, wholeErr := b.KeptAnswer(t.Context(), q, 1<<20)
		if (err == nil) != (wholeErr == nil) {
			t.Errorf("a part: %v, the whole answer: %v", err, wholeErr)
		}
		return err
	}
}

func TestKeptAnswer_IsReadUnderThePolicyOfNow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	read := b.keepAnswer(t, a, c)
	block := func(code string) func(*agentview.View, *agentview.Tool) {
		return func(_ *agentview.View, tool *agentview.Tool) { tool.BlockedBy = code }
	}
	for name, row := range map[string]struct {
		change func(*agentview.View, *agentview.Tool)
		want   toolcall.Code // empty: it is read
	}{
		"callable":           {},
		"held for a review":  {block(agentview.HeldReview), toolcall.CodeHeld},
		"rejected":           {block(agentview.HeldRejected), toolcall.CodeHeld},
		"disabled tool":      {block(agentview.BlockedDisabled), toolcall.CodeHeld},
		"not granted":        {block(agentview.HeldNotGranted), toolcall.CodeNotGranted},
		"disabled connector": {func(v *agentview.View, _ *agentview.Tool) { v.Connectors = nil }, toolcall.CodeNotGranted},
		"disabled agent":     {func(v *agentview.View, _ *agentview.Tool) { v.Agent.Enabled = false }, toolcall.CodeNotGranted},
	} {
		err := read(row.change)
		if row.want == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if row.want != "" {
			asRefusal(t, err, row.want)
		}
	}
}

// The view of a read may be older than the end of the grant.
func TestKeptAnswer_IsNotReadAfterTheEndOfItsGrant(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	end := b.endSoon(t, a.ID, c.ID, 4*time.Second)
	read := b.keepAnswer(t, a, c)
	err := read(func(*agentview.View, *agentview.Tool) { b.passEnd(t, end) })
	if r := asRefusal(t, err, toolcall.CodeNotGranted); !strings.Contains(r.Sentence, "ended at ") {
		t.Errorf("refused with %q", r.Sentence)
	}
	asRefusal(t, read(nil), toolcall.CodeNotGranted)
}

func TestKeptAnswer_IsReadFor24Hours(t *testing.T) {
	t.Parallel()
	for age, isRead := range map[time.Duration]bool{23*time.Hour + 50*time.Minute: true, 24*time.Hour + time.Second: false} {
		b := newBench(t, func(o *toolcall.Options) { o.Now = func() time.Time { return time.Now().Add(-age) } })
		c := b.connector(t, b.remote)
		read := b.keepAnswer(t, b.newTrustedAgent(t, c), c)
		if err := read(nil); isRead && err != nil || !isRead && !strings.Contains(asRefusal(t, err, toolcall.CodeNotGranted).Sentence, "24 hours") {
			t.Errorf("after %s: %v", age, err)
		}
	}
}

// A server may answer at once though a client asks for a task. The stored result is shortened each time in the same way.
func TestShapeTask_OfAStoredResult(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	b.syncWith(t, c, `{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, `{"name":"search","inputSchema":{"type":"object"}}`)
	b.remote.set(answerModern(map[string]func(string) string{"tools/call": func(string) string {
		return `{"resultType":"complete","content":[{"type":"text","text":"` + strings.Repeat("some words ", 1000) + `"}]}`
	}}))
	a := b.newTrustedAgent(t, c)
	must(t, b.Door().Agents().SetShaping(t.Context(), a.ID, c.ID, "search", connectors.Shaping{Budget: 200}))
	request := b.order(t, b.process, a, c, "search", "")
	out, params := b.askForTask(t, b.process, request)
	notice := func(id connectors.ToolCallID) shaping.Notice { return shaping.Notice{ID: id.String()} }
	var first json.RawMessage
	for range 2 {
		raw, err := b.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/result", params)
		must(t, err)
		q := toolcall.UpstreamRequest{View: request.View, Method: "tasks/result", Params: params}
		shaped := b.ShapeTask(t.Context(), q, raw, notice)
		if len(shaped) == 0 || len(shaped) > len(raw)/2 || first != nil && string(first) != string(shaped) {
			t.Errorf("%d of %d bytes: %.300s", len(shaped), len(raw), shaped)
		}
		first = shaped
		whole, err := b.KeptAnswer(t.Context(), toolcall.ReadRequest{View: request.View, ID: out.CallID.String()}, 1<<20)
		if err != nil || string(whole) != string(raw) {
			t.Errorf("%v: kept is %.300s", err, whole)
		}
		q.Connector = &agentview.ConnectorView{}
		if b.ShapeTask(t.Context(), q, raw, notice) != nil {
			t.Error("it is shortened at another connector's address")
		}
	}
}

func TestKeptAnswer_IsReadWithItsAccountAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	b.saveAccount(t, c, nil, "work", "of-work")
	read := b.keepAnswer(t, b.newBoundAgent(t, c, "work"), c)
	must(t, read(nil))
	err := read(func(_ *agentview.View, tool *agentview.Tool) {
		tool.Connector.Account = connectors.CredentialID{UUID: uuid.New()}
	})
	asRefusal(t, err, toolcall.CodeNotGranted)
}
