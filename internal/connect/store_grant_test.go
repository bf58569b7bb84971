package connect_test

import (
	"testing"

	"patchbay/db"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

// fails has the database end each transaction that stores a credential: at once, or deferred to its commit.
func (c *connecting) fails(t *testing.T, when, with string) {
	t.Helper()
	c.AsOwner(t,
		`create function fail() returns trigger language plpgsql security definer as $$ begin `+with+` return null; end $$`,
		`create constraint trigger fails after insert or update on credentials `+when+` for each row execute function fail()`)
}

const endsTheConnection = `perform pg_terminate_backend(pg_backend_pid());`

func raise(state string) string { return `raise exception 'no' using errcode = '` + state + `';` }

func TestAGrantThatIsNotStoredIsGivenBack(t *testing.T) {
	t.Parallel()
	const atOnce, atCommit = "", "deferrable initially deferred"
	for name, test := range map[string]struct {
		when, with string
		givenBack  int
	}{
		"others hold the lock for too long":             {atOnce, raise("55P03"), 1},
		"a deadlock":                                    {atOnce, raise("40P01"), 1},
		"a mistake of ours":                             {atOnce, raise("22012"), 1},
		"the connection ends before the commit":         {atOnce, endsTheConnection, 1},
		"the commit is refused":                         {atCommit, raise("40001"), 1},
		"the connection ends while it is committed":     {atCommit, endsTheConnection, 0},
		"a pooler does not know what came of a commit":  {atCommit, raise("08007"), 0},
		"the statement is cancelled while it is stored": {atOnce, raise("57014"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConnecting(t, connectors.RoleMember)
			c.fails(t, test.when, test.with)
			c.returns(t)
			c.goOn()
			if err := <-c.ended; err == nil {
				t.Error("it was stored")
			}
			c.nothing(t, test.givenBack)
		})
	}
}

// Many servers end all that a person has granted to a client with any of its tokens.
func TestFinish_DoesNotRevokeWhenOldGrantWouldEnd(t *testing.T) {
	t.Parallel()
	c := newConnecting(t, connectors.RoleMember)
	c.goOn()
	c.returns(t)
	if err := <-c.ended; err != nil {
		t.Fatal(err)
	}
	before := c.grant(t, c.connector, &c.agent.ID)
	c.fails(t, "", raise("40P01"))
	c.returns(t)
	if err := <-c.ended; err == nil {
		t.Error("it was stored")
	}
	if now := c.grant(t, c.connector, &c.agent.ID); now.Version != before.Version {
		t.Errorf("version %d, was %d", now.Version, before.Version)
	}
	if n := c.as.Count(oauthtest.Revoke); n != 0 {
		t.Errorf("given back %d times", n)
	}
}

func TestFinish_DoesNotRevokeWhenUnknown(t *testing.T) {
	t.Parallel()
	c := newConnecting(t, connectors.RoleMember)
	pool, err := db.OpenPool(t.Context(), c.URL, db.PoolOptions{MaxConns: 4})
	must(t, err)
	t.Cleanup(pool.Close)
	st, err := store.Open(t.Context(), pool, c.KEK)
	must(t, err)
	t.Cleanup(st.Close)
	c.broker = c.process(st, c.egress)
	c.returns(t)
	pool.Close()
	c.goOn()
	wantFault(t, <-c.ended, fault.Unavailable, "")
	c.nothing(t, 0)
}
