package agentview_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

// BenchmarkByToken measures the first step of every gateway request.
func BenchmarkByToken(b *testing.B) {
	w := newTestEnv(b)
	agent, _ := w.newGrantedAgent(b, names(20)...)
	text := w.Token(b, agent.ID)
	w.waitForNotices(b)
	w.byToken(b, text)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := w.cache.ByToken(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkByTokenParallel(b *testing.B) {
	w := newTestEnv(b)
	agent, _ := w.newGrantedAgent(b, names(20)...)
	text := w.Token(b, agent.ID)
	w.waitForNotices(b)
	w.byToken(b, text)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, _, err := w.cache.ByToken(b.Context(), text); err != nil {
				b.Error(err)
			}
		}
	})
}

// A list of a thousand tools is one shared byte slice.
func BenchmarkListResult(b *testing.B) {
	w := newTestEnv(b)
	agent, c := w.Agent(b), w.Connector(b)
	var raws []string
	for i := range 1000 {
		raws = append(raws, fmt.Sprintf(`{"name":"tool_%d","description":"What it does.","inputSchema":%s}`, i, issueSchema))
	}
	w.storeSync(b, c.ID, defs(raws...), valid)
	w.Grant(b, agent.ID, c.ID)
	w.waitForNotices(b)
	v := w.view(b, agent.ID)
	b.ReportAllocs()
	for b.Loop() {
		if len(v.ListResult(agentview.Tools, true)) < 1000 {
			b.Fatal("too short")
		}
	}
	b.SetBytes(int64(len(v.ListResult(agentview.Tools, true))))
}

// BenchmarkLoad loads a view of a thousand tools with its definitions in memory.
func BenchmarkLoad(b *testing.B) {
	w := newTestEnv(b)
	agent, c := w.Agent(b), w.Connector(b)
	w.Synced(b, c.ID, names(500)...)
	w.Grant(b, agent.ID, c.ID)
	w.waitForNotices(b)
	v := w.view(b, agent.ID)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.cache.LoadUncached(b.Context(), w.Tenant, connectors.Ref(agent.ID.String())); err != nil {
			b.Fatal(err)
		}
	}
	if len(v.Tools) != 500 {
		b.Fatal(len(v.Tools))
	}
}

func BenchmarkValidate(b *testing.B) {
	for name, tc := range map[string]struct{ schema, arguments string }{
		"object": {`{"type":"object"}`, `{"q":"how long is the coast of Britain","limit":20}`},
		"flat":   {`{"type":"object","properties":{"q":{"type":"string"},"limit":{"type":"integer","minimum":1}},"required":["q"],"additionalProperties":false}`, `{"q":"how long is the coast of Britain","limit":20}`},
		"issue":  {issueSchema, `{"title":"a","labels":["x","y"],"priority":3,"state":"open","where":{"lat":1.5},"due":"2026-01-31"}`},
	} {
		b.Run(name, func(b *testing.B) {
			t, arguments := tool(b, tc.schema), json.RawMessage(tc.arguments)
			b.ReportAllocs()
			for b.Loop() {
				if err := t.Validate(b.Context(), arguments); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
