package toolchange_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"patchbay/internal/toolchange"
)

// compareLookedUp compares as a sync does: only tools that Mentions names are known.
func compareLookedUp(before, now []byte, tools ...string) toolchange.Change {
	var known []toolchange.Named
	for _, word := range toolchange.Mentions(before, now) {
		for _, tool := range tools {
			if word == tool {
				known = append(known, toolchange.Named{Connector: "Mail", Tool: tool})
			}
		}
	}
	return toolchange.Compare(before, now, toolchange.NewNames(known, nil))
}

func describe(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"name": "search", "description": text})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestCompare_SaysThatMentionsAreLeftOut(t *testing.T) {
	t.Parallel()
	const sentence = "The texts have more possible tool names than the 200 that Patchbay checks."
	for words, want := range map[int]bool{199: false, 200: false, 201: true, 5000: true} {
		var text strings.Builder
		for n := range words {
			fmt.Fprintf(&text, "word_%d ", n)
		}
		now := describe(t, text.String())
		for name, before := range map[string][]byte{"new": nil, "changed": describe(t, "old")} {
			c := compareLookedUp(before, now)
			said := false
			for _, d := range c.Differences {
				said = said || d.Sentence == sentence
			}
			if said != want || want && (c.Risk != toolchange.High || !c.Has(toolchange.Shadows)) {
				t.Errorf("%s, %d words: said %v, %v, %v", name, words, said, c.Risk, c.Kinds)
			}
		}
		if c := compareLookedUp(now, describe(t, text.String()+"more")); c.Has(toolchange.Shadows) {
			t.Errorf("%d old words: %v", words, c.Kinds)
		}
	}
}

func TestCompare_FindsMentionsAfterEscapes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`a\nsend_mail`, `a\tsend_mail`, `send\u005fmail`, `\u0073end_mail`, `\"send_mail\"`, `a\\send_mail`, `\/send_mail\/`} {
		now := []byte(`{"name":"search","description":"` + text + `"}`)
		if c := compareLookedUp(describe(t, "old"), now, "send_mail"); !c.Has(toolchange.Shadows) {
			t.Errorf("%s: %v", text, c.Kinds)
		}
	}
}
