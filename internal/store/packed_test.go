package store_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestResultsThatArePackedAreReadAsTheyWere(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	long := bytes.Repeat([]byte(`{"type":"text","text":"a line of what was found"},`), 20)
	noise := []byte(hex.EncodeToString(random(t, 400)))
	for name, of := range map[string]struct {
		content, structured []byte
		packed              bool
	}{
		"nothing":                {},
		"short":                  {content: long[:100], structured: long[:100]},
		"content":                {content: long, packed: true},
		"structured":             {structured: long, packed: true},
		"both":                   {content: long[:300], structured: long[:300], packed: true},
		"as long as may be":      {content: bytes.Repeat(long, 200)[:connectors.MaxHistoryBytes], structured: bytes.Repeat(long, 200)[:connectors.MaxHistoryBytes], packed: true},
		"nothing can be saved":   {content: random(t, 5000), structured: random(t, 5000)},
		"half of it can":         {content: noise, structured: noise, packed: true},
		"longer than is kept":    {content: bytes.Repeat(long, 1700)},
		"bytes that are no text": {content: bytes.Repeat([]byte{0, 255}, 400), packed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for way, write := range waysToEnd(t, w) {
				c := batchOf(t, w, 1, 1)
				anew(c, time.Now())
				c[0].Content, c[0].Structured = of.content, of.structured
				write(c)
				got, err := w.Door().Calls().Get(t.Context(), c[0].ID)
				if err != nil || !bytes.Equal(got.Content, of.content) || !bytes.Equal(got.Structured, of.structured) {
					t.Errorf("%s: %d and %d bytes: %v", way, len(got.Content), len(got.Structured), err)
				}
				var plain, packed int
				w.AsSystem(t, `select coalesce(length(content), 0) + coalesce(length(structured), 0), coalesce(length(packed), 0) from tool_calls where id = $1`,
					[]any{c[0].ID}, &plain, &packed)
				whole := len(of.content) + len(of.structured)
				if of.packed && (plain != 0 || packed == 0 || packed > whole*7/8+10) || !of.packed && (plain != whole || packed != 0) {
					t.Errorf("%s: %d bytes stand as %d plain ones and %d packed", way, whole, plain, packed)
				}
			}
		})
	}
}

// waysToEnd are the statements that write results in batches.
func waysToEnd(t *testing.T, w *fixture.World) map[string]func([]store.OwnedCall) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]func([]store.OwnedCall){
		"added": func(c []store.OwnedCall) { must(w.St.System().Calls().AddCalls(t.Context(), c)) },
		"ended": func(c []store.OwnedCall) { must(w.St.System().Calls().EndCalls(t.Context(), c)) },
		"begun, and ended": func(c []store.OwnedCall) {
			begun := c[0]
			begun.Status, begun.Outcome, begun.CompletedAt, begun.InstanceID = connectors.CallRunning, connectors.OutcomeNone, nil, &w.Instance
			begun.Content, begun.Structured = nil, nil
			must(w.St.System().Calls().BeginCalls(t.Context(), []store.OwnedCall{begun}))
			must(w.St.System().Calls().EndCalls(t.Context(), c))
		},
	}
}

// A batch has calls with packed results and others, by turns.
func TestEachCallOfABatchKeepsItsOwnResult(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	calls := batchOf(t, w, 3, 300)
	anew(calls, time.Now())
	for i := range calls {
		calls[i].Content = bytes.Repeat(fmt.Appendf(nil, "%d ", i), 1+i%7*100)
		calls[i].Structured = bytes.Repeat(fmt.Appendf(nil, "[%d]", i), i%5*100)
	}
	if err := w.St.System().Calls().AddCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		got, err := w.St.Tenant(c.Tenant).Calls().Get(t.Context(), c.ID)
		if err != nil || !bytes.Equal(got.Content, c.Content) || !bytes.Equal(got.Structured, c.Structured) {
			t.Fatalf("%s has %.20q and %.20q for %.20q and %.20q: %v", c.ID, got.Content, got.Structured, c.Content, c.Structured, err)
		}
	}
}

func TestUnpack_RefusesCorruptResult(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	calls := batchOf(t, w, 1, 1)
	if err := w.St.System().Calls().AddCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	w.AsSystem(t, `with cut as (update tool_calls set packed = substr(packed, 1, length(packed) - 3) returning 1) select count(*) from cut`, nil, new(int))
	if got, err := w.Door().Calls().Get(t.Context(), calls[0].ID); err == nil {
		t.Errorf("%d bytes", len(got.Content))
	}
}

func random(t *testing.T, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return b
}
