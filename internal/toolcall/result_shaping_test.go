package toolcall_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

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
