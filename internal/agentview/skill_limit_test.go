package agentview_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// storeSkills stores accepted skills of a connector, each with a description of this size.
func (b *testEnv) storeSkills(t *testing.T, c connectors.ConnectorID, n, size int) {
	t.Helper()
	write := store.SkillWrite{Hash: new(connectors.Hash{1})}
	for i := range n {
		uri := fmt.Sprintf("github://acme/skill-%04d/SKILL.md", i)
		skill, defect := connectors.ReadSkill(fmt.Appendf(nil, `{"uri":%q,"frontmatter":{"name":"skill-%04d","description":%q},"resources":[
			{"uri":%q,"digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":0}]}`, uri, i, strings.Repeat("a", size), uri))
		if defect != "" {
			t.Fatal(defect)
		}
		write.Definitions = append(write.Definitions, skill)
		write.Diff.Added = append(write.Diff.Added, connectors.ToolWrite{Name: skill.Name, Current: skill.Hash, Accepted: &skill.Hash, Review: connectors.ReviewAccepted})
	}
	if err := b.Door().Skills().Save(t.Context(), c, write); err != nil {
		t.Fatal(err)
	}
}

// TestSkills_AgentHasALimit checks the number and the bytes of the skills that an agent is served, and that the others are withheld.
func TestSkills_AgentHasALimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ perConnector, size, first, second int }{
		"number": {600, 10, 600, store.MaxServedSkills - 600},
		"bytes":  {20, 300 << 10, 20, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			var log bytes.Buffer
			b.cache = newConnectedCache(t, b.St, agentview.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			agent := b.Agent(t)
			for _, s := range []string{"a-ungranted", "a-ended", "b", "c"} {
				c := b.Connector(t, slug(s))
				b.storeSkills(t, c.ID, test.perConnector, test.size)
				b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) {
					if s == "a-ungranted" {
						g.Resources = connectors.ResourcesNone
					}
					if s == "a-ended" {
						g.Ends = &connectors.GrantEnds{Until: new(time.Now().Add(-time.Hour))}
					}
				})
			}
			v := b.view(t, agent.ID)
			var got []int
			for _, slug := range []string{"a-ungranted", "a-ended", "b", "c"} {
				got = append(got, len(v.Connector(slug).Skills()))
			}
			if want := []int{0, 0, test.first, test.second}; !slices.Equal(got, want) {
				t.Errorf("%v skills are served, want %v", got, want)
			}
			if got, want := v.SkillsOverLimit(), test.perConnector-test.second; got != want {
				t.Errorf("%d skills are over the limit, want %d", got, want)
			}
			last := v.Connector("c")
			for i := range test.perConnector {
				uri := fmt.Sprintf("github://acme/skill-%04d/SKILL.md", i)
				if over := i >= test.second; last.HasSkillOverLimit(uri) != over || last.WithholdsSkill(uri) != over {
					t.Fatalf("skill %d: over the limit: %v, withheld: %v", i, last.HasSkillOverLimit(uri), last.WithholdsSkill(uri))
				}
			}
			if !strings.Contains(log.String(), "skills over an agent's limit are not served") || !strings.Contains(log.String(), agent.ID.String()) {
				t.Errorf("the log says %q", log.String())
			}
			if want := fmt.Sprintf("skills=%d", test.perConnector-test.second); !strings.Contains(log.String(), want) {
				t.Errorf("the log lacks %s: %q", want, log.String())
			}
		})
	}
}
