package agentview_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

// changeCase is one change of a real server's tool, from the test data of package toolchange.
type changeCase struct {
	name        string
	before, now []byte
	others      map[string][]string // tools of other connectors, by connector
	risky       bool
}

var riskLine = regexp.MustCompile(`(?m)^risk: (\w+)$`)

func changeCases(t *testing.T) (stories []changeCase) {
	t.Helper()
	files, err := filepath.Glob("../toolchange/testdata/changes/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		if base := filepath.Base(file); strings.HasPrefix(base, "instructions_") || strings.HasPrefix(base, "skill_") { // not about a tool
			continue
		}
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := changeCase{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), others: map[string][]string{}}
		s.risky = riskLine.FindStringSubmatch(string(archive.Comment))[1] == "high"
		for _, f := range archive.Files {
			switch f.Name {
			case "before.json":
				s.before = bytes.TrimSpace(f.Data)
			case "now.json":
				s.now = bytes.TrimSpace(f.Data)
			case "names":
				s.readOthers(string(f.Data))
			}
		}
		stories = append(stories, s)
	}
	return stories
}

func (s *changeCase) readOthers(lines string) {
	for line := range strings.Lines(lines) {
		if connector, tool, _ := strings.Cut(strings.TrimSpace(line), " "); connector != "=" {
			s.others[connector] = append(s.others[connector], tool)
		}
	}
}

// decodeDefinition decodes a definition, keeping its own name.
func decodeDefinition(t *testing.T, raw []byte) connectors.Definition {
	t.Helper()
	var named struct{ Name string }
	if err := json.Unmarshal(raw, &named); err != nil {
		t.Fatal(err)
	}
	return fixture.DefinitionOf(named.Name, string(raw))
}

func TestRiskyChange_AgentsKeepAcceptedDefinition(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent := w.Agent(t)
	keeper := agentview.New(agentview.Options{Store: w.St})
	stories, reaches := changeCases(t), map[string]string{}
	for _, s := range stories {
		for _, tools := range s.others {
			w.Synced(t, w.Connector(t).ID, tools...)
		}
		c := w.Connector(t)
		w.Grant(t, agent.ID, c.ID)
		reaches[s.name] = c.Slug
		anchor := fixture.Definition("anchor_of_the_list") // so that the first sync has a tool even if the story adds one
		list := func(raw []byte) []connectors.Definition {
			if raw == nil {
				return []connectors.Definition{anchor}
			}
			return []connectors.Definition{anchor, decodeDefinition(t, raw)}
		}
		w.Resynced(t, c.ID, list(s.before)...)
		w.Resynced(t, c.ID, list(s.now)...)
	}
	view, err := keeper.ByAgent(t.Context(), w.Tenant, connectors.Ref(agent.ID.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stories {
		raw := s.now
		if raw == nil {
			raw = s.before
		}
		tool := view.Connector(reaches[s.name]).Tool(decodeDefinition(t, raw).Name)
		want, held := s.now, ""
		switch {
		case s.now == nil:
			held = agentview.BlockedRemoved
		case s.risky && s.before == nil:
			want, held = nil, agentview.BlockedNew
		case s.risky:
			want, held = s.before, agentview.HeldReview
		}
		seen, binding := agentview.CutBinding(want)
		if tool.BlockedBy != held || !bytes.Equal(tool.Raw, seen) || !bytes.Equal(tool.Binding(), binding) {
			t.Errorf("%s: held %q, want %q; served %s", s.name, tool.BlockedBy, held, tool.Raw)
		}
	}
}
