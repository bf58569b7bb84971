package store_test

import (
	"strings"
	"testing"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// TestAnAgentsMailIsBounded puts more than may lie there of one agent, in number and in bytes.
func TestAnAgentsMailIsBounded(t *testing.T) {
	t.Parallel()
	const copies = `begin; select set_config('app.system', 'on', true);
		insert into gateway_mail select tenant_id, gen_random_uuid(), agent_id, box, sealed, expires_at from gateway_mail, generate_series(1, 9998); commit`
	for name, c := range map[string]struct {
		fits, size int
		before     string
	}{"letters": {1, 1, copies}, "bytes": {7, 8 << 20, ""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			letter, door := newMail(w.Agent(t), "box"), w.Door()
			letter.Message = secret.Text(strings.Repeat("x", c.size))
			put := func() {
				t.Helper()
				if err := door.Calls().PutMail(t.Context(), letter); err != nil {
					t.Fatal(err)
				}
			}
			put()
			if _, err := w.Pool.Exec(t.Context(), c.before); err != nil {
				t.Fatal(err)
			}
			for range c.fits {
				put()
			}
			if err := door.Calls().PutMail(t.Context(), letter); !fault.Is(err, fault.RateLimited) {
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
				if err := door.Calls().PutMail(t.Context(), next); err != nil {
					t.Errorf("of %s agent: %v", other.agent, err)
				}
			}
		})
	}
}

func TestPutMail_StoresARepeatedMessageOnce(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	mail := newMail(w.Agent(t), "box")
	mail.ID = store.NewMailID()
	for range 2 {
		if err := w.Door().Calls().PutMail(t.Context(), mail); err != nil {
			t.Fatal(err)
		}
	}
	fill := `begin; select set_config('app.system', 'on', true);
		insert into gateway_mail select tenant_id, gen_random_uuid(), agent_id, box, sealed, expires_at from gateway_mail, generate_series(1, 9999); commit`
	if _, err := w.Pool.Exec(t.Context(), fill); err != nil {
		t.Fatal(err)
	}
	if err := w.Door().Calls().PutMail(t.Context(), mail); err != nil {
		t.Errorf("it counts twice against the bound: %v", err)
	}
	var stored int
	w.AsSystem(t, "select count(*) from gateway_mail", []any{}, &stored)
	if stored != 10_000 {
		t.Errorf("%d messages are stored", stored)
	}
}
