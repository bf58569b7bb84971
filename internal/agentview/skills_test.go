package agentview

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"patchbay/internal/store"
)

// TestIsSkillURI_TimeIsLinear checks a URI with a million segments, which a server can send in a result.
func TestIsSkillURI_TimeIsLinear(t *testing.T) {
	t.Parallel()
	var connector ConnectorView
	connector.skills.rows = []store.AccessSkill{{URI: "github://acme/refunds/SKILL.md"}}
	done := make(chan bool, 1)
	go func() { done <- connector.IsSkillURI("github://" + strings.Repeat("a/", 2<<20)) }()
	select {
	case is := <-done:
		if is {
			t.Error("it is a file of a skill")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("a URI of 4 MiB took longer than 20 seconds")
	}
}

// TestIsSkillURI_FindsEachRoot compares with a search of all roots.
func TestIsSkillURI_FindsEachRoot(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	place := func() string {
		uri := "x:/"
		for range 1 + random.IntN(4) {
			uri += "/" + string("ab-.0"[random.IntN(5)]) + "b"[:random.IntN(2)]
		}
		return uri
	}
	for range 300 {
		var connector ConnectorView
		for range 1 + random.IntN(6) {
			connector.skills.rows = append(connector.skills.rows, store.AccessSkill{URI: place() + "/SKILL.md"})
		}
		for range 50 {
			uri, want := place(), false
			for _, row := range connector.skills.rows {
				want = want || strings.HasPrefix(foldURI(uri)+"/", foldURI(strings.TrimSuffix(row.URI, "/SKILL.md"))+"/")
			}
			if got := connector.IsSkillURI(uri); got != want {
				t.Fatalf("%s in %v: %v", uri, connector.skills.rows, got)
			}
		}
	}
}
