package toolsync_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

const outdatedSkill = "skill://acme/refunds/SKILL.md"

// versions are those of the skill, and of the tool and the instructions.
type versions struct{ skill, tool int }

// changingServer lists a tool, a skill and instructions of versions, which tests change.
type changingServer struct {
	*mcptest.Server
	version chan versions // filled with the versions
	listing chan struct{} // a list of tools is asked for: it waits until the test receives
}

func newChangingServer(t *testing.T) *changingServer {
	t.Helper()
	s := &changingServer{version: make(chan versions, 1), listing: make(chan struct{})}
	s.version <- versions{1, 1}
	answer := func(format string) mcptest.Handler {
		return mcptest.Answer("application/json", func(c mcptest.Call) string {
			v := <-s.version
			s.version <- v
			n := v.tool
			if c.Method == "skills/list" {
				n = v.skill
			}
			return mcptest.Result(c, fmt.Sprintf(format, n))
		})
	}
	tools := answer(`{"tools":[{"name":"pay","description":"Version %d","inputSchema":{"type":"object"}}]}`)
	s.Server = mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"initialize": answer(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/skills":{}}},` +
			`"serverInfo":{"name":"changing","version":"1"},"instructions":"Version %d"}`),
		"skills/list": answer(`{"skills":[{"uri":"` + outdatedSkill + `","frontmatter":{"name":"refunds","description":"Version %d"},"resources":[{"uri":"` + outdatedSkill +
			`","digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":0}]}]}`),
		"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			select {
			case s.listing <- struct{}{}:
			case <-r.Context().Done():
			}
			tools(w, r, c)
		},
	}})
	return s
}

// syncVersions syncs versions of the server. do commits after the sync compared its list and before it stores it; nil: nothing does.
func (s *changingServer) syncVersions(t *testing.T, b *bundle, c connectors.Connector, now versions, do func(tx *store.Tenant) error) {
	t.Helper()
	<-s.version
	s.version <- now
	ended := make(chan error, 1)
	go func() {
		_, err := b.sync.Sync(t.Context(), b.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual})
		ended <- err
	}()
	if do == nil {
		<-s.listing
	} else if err := b.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		if err := tx.Connectors().Lock(t.Context(), c.ID); err != nil {
			return err
		}
		<-s.listing
		waitForLock(t, b)
		return do(tx)
	}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// waitForLock waits until a statement waits for a lock.
func waitForLock(t *testing.T, b *bundle) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), b.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	late := time.Now().Add(patience)
	for waits := false; !waits; {
		if time.Now().After(late) {
			t.Fatal("no statement waits for a lock")
		}
		if err := conn.QueryRow(t.Context(), `
			select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
}

// servedVersions returns the version that agents get of the skill, the tool and the instructions; empty: none.
func (b *bundle) servedVersions(t *testing.T, c connectors.Connector) (skill, tool, instructions string) {
	t.Helper()
	s, err := b.Door().Skills().Get(t.Context(), c.ID, outdatedSkill)
	if err != nil {
		t.Fatal(err)
	}
	if s.Accepted != nil {
		skill = connectors.DecodeSkill(s.Accepted.Raw).Description()
	}
	base, err := b.Door().Syncs().Baseline(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	if hash := base.Tools[0].Accepted; hash != nil {
		raws, err := b.Door().Tools().Definitions(t.Context(), []connectors.Hash{*hash})
		if err != nil {
			t.Fatal(err)
		}
		tool = connectors.DecodeTool(raws[*hash]).Description
	}
	return skill, tool, base.Instructions.Accepted
}

// TestSync_DecisionMeanwhileStands decides between the comparison of a list and its storage.
func TestSync_DecisionMeanwhileStands(t *testing.T) {
	t.Parallel()
	type rig struct {
		*bundle
		server *changingServer
		c      connectors.Connector
	}
	decide := func(r rig, tool string, accept bool) func(tx *store.Tenant) error {
		return func(tx *store.Tenant) error {
			d := store.ToolDecision{Connector: r.c.ID, Tool: tool, Accept: accept, By: "Ada"}
			if tool == connectors.InstructionsTool {
				return tx.Tools().DecideInstructions(t.Context(), d)
			}
			return tx.Tools().Decide(t.Context(), d)
		}
	}
	undo := func(r rig, tool string) func(tx *store.Tenant) error {
		return func(tx *store.Tenant) error {
			decided, err := tx.Tools().Decided(t.Context(), []connectors.Ref{connectors.Ref(r.c.Slug)}, []string{tool})
			if err != nil || len(decided) != 1 {
				return fmt.Errorf("%d decisions: %w", len(decided), err)
			}
			_, err = tx.Tools().Undo(t.Context(), decided[0].Decision, "Bob")
			return err
		}
	}
	holdAll := func(r rig) func(tx *store.Tenant) error {
		return func(tx *store.Tenant) error {
			d := connectors.DraftOf(r.reload(t, r.c))
			d.ToolChanges = connectors.ToolChangesHoldAll
			_, err := tx.Connectors().Update(t.Context(), r.c.ID, 0, d)
			return err
		}
	}
	skill := connectors.SkillTool(outdatedSkill)
	for name, test := range map[string]struct {
		lists                     versions // the first that differ are those that the sync waits to store
		policy                    connectors.ToolChangePolicy
		before                    func(t *testing.T, r rig)
		meanwhile                 func(r rig) func(tx *store.Tenant) error
		skill, tool, instructions string // served afterwards
	}{
		"a skill's acceptance is undone": {
			versions{2, 1}, connectors.ToolChangesHoldAll, func(t *testing.T, r rig) { t.Helper(); r.do(t, decide(r, skill, true)) }, func(r rig) func(tx *store.Tenant) error { return undo(r, skill) },
			"", "Version 1", "Version 1",
		},
		"a skill is withdrawn": {
			versions{2, 1}, connectors.ToolChangesAuto, nil, func(r rig) func(tx *store.Tenant) error { return decide(r, skill, false) }, "", "Version 1", "Version 1",
		},
		"a tool's acceptance is undone": {
			versions{1, 3}, connectors.ToolChangesHoldAll, func(t *testing.T, r rig) {
				t.Helper()
				r.server.syncVersions(t, r.bundle, r.c, versions{1, 2}, nil)
				r.do(t, decide(r, "pay", true))
			}, func(r rig) func(tx *store.Tenant) error { return undo(r, "pay") },
			"", "Version 1", "Version 1",
		},
		"instructions' acceptance is undone": {
			versions{1, 3}, connectors.ToolChangesHoldAll, func(t *testing.T, r rig) {
				t.Helper()
				r.server.syncVersions(t, r.bundle, r.c, versions{1, 2}, nil)
				r.do(t, decide(r, connectors.InstructionsTool, true))
			}, func(r rig) func(tx *store.Tenant) error { return undo(r, connectors.InstructionsTool) },
			"", "Version 1", "Version 1",
		},
		"the policy holds all skills": {
			versions{2, 1}, connectors.ToolChangesAuto, nil, holdAll, "Version 1", "Version 1", "Version 1",
		},
		"the policy holds all tools": {
			versions{1, 2}, connectors.ToolChangesAuto, nil, holdAll, "Version 1", "Version 1", "Version 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, server := newBundle(t), newChangingServer(t)
			r := rig{b, server, b.addConnector(t, server.URL, func(d *connectors.Draft) { d.ToolChanges = test.policy })}
			server.syncVersions(t, b, r.c, versions{1, 1}, nil)
			if test.before != nil {
				test.before(t, r)
			}
			server.syncVersions(t, b, r.c, test.lists, test.meanwhile(r))
			skill, tool, instructions := b.servedVersions(t, r.c)
			if skill != test.skill || tool != test.tool || instructions != test.instructions {
				t.Errorf("agents get %q, %q and %q", skill, tool, instructions)
			}
		})
	}
}

// do commits a decision.
func (b *bundle) do(t *testing.T, decide func(tx *store.Tenant) error) {
	t.Helper()
	if err := b.Door().Tx(t.Context(), decide); err != nil {
		t.Fatal(err)
	}
}
