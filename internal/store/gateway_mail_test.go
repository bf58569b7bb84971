package store_test

import (
	"strings"
	"testing"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/testing/fixture"
)

// TestAnAgentsMailIsBounded puts more than may lie there of one agent, in number and in bytes.
func TestAnAgentsMailIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fits, size int }{"letters": {1000, 1}, "bytes": {8, 8 << 20}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			letter, door := newMail(w.Agent(t), "box"), w.Door()
			letter.Message = secret.Text(strings.Repeat("x", c.size))
			for range c.fits {
				if err := door.PutMail(t.Context(), letter); err != nil {
					t.Fatal(err)
				}
			}
			if err := door.PutMail(t.Context(), letter); !fault.Is(err, fault.RateLimited) {
				t.Errorf("one more: %v", err)
			}
			for _, other := range []struct {
				agent  string
				urgent bool
			}{{"the same", true}, {"another", false}} {
				next := letter
				if next.Urgent = other.urgent; !other.urgent {
					next.AgentID = w.Agent(t).ID
				}
				if err := door.PutMail(t.Context(), next); err != nil {
					t.Errorf("of %s agent: %v", other.agent, err)
				}
			}
		})
	}
}
