package toolcall_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/openapi/httpcall"
	"patchbay/internal/safe"
	"patchbay/internal/shaping"
	"patchbay/internal/toolcall"
)

// panickingContext panics where shaping begins to choose fields.
type panickingContext struct{ context.Context }

func (panickingContext) Deadline() (time.Time, bool) { panic("of a test") }

func TestShapeAnswer_PanicLeavesItWhole(t *testing.T) {
	fields, err := httpcall.CompileFilter(".a")
	must(t, err)
	c := toolcall.New(toolcall.Options{})
	raw := json.RawMessage(`{"content":[{"type":"text","text":"{\"a\":1,\"b\":\"` + strings.Repeat("x", 5000) + `\"}"}]}`)
	rule, before := shaping.Rule{Fields: fields}, safe.Count(safe.Call)
	if _, shaped := c.ShapeRaw(t.Context(), rule, raw); !shaped {
		t.Fatal("it is not shaped")
	}
	if _, shaped := c.ShapeRaw(panickingContext{t.Context()}, rule, raw); shaped || safe.Count(safe.Call) == before {
		t.Errorf("after a panic: shaped %v", shaped)
	}
}

// Work on long answers waits for its place, and the answer of a call that ends meanwhile stays whole.
func TestLongAnswers_HaveAGate(t *testing.T) {
	c := toolcall.New(toolcall.Options{})
	view := &agentview.View{Tenant: connectors.Tenant{ID: connectors.TenantID{UUID: uuid.New()}, CallHistory: connectors.HistoryFull}}
	release, taken := c.HoldAnswers(view.Tenant.ID)
	defer release()
	_, others := c.HoldAnswers(connectors.TenantID{UUID: uuid.New()})
	if taken != 2 || others != 2 {
		t.Errorf("%d and %d at once, want 2 of each tenant", taken, others)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q := toolcall.ReadRequest{View: view, ID: uuid.NewString()}
	if _, err := c.KeptAnswer(ctx, q, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("a whole answer: %v", err)
	}
	if _, err := c.ReadAnswer(ctx, q, shaping.ReadRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a read: %v", err)
	}
	tool := &agentview.Tool{Shaping: connectors.Shaping{Budget: 1000}}
	out := &toolcall.Outcome{Raw: json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("some words ", 30_000) + `"}]}`)}
	if raw := c.ShapeAnswer(ctx, view, tool, out, shaping.Notice{}); raw != nil {
		t.Error("it is shortened")
	}
}
