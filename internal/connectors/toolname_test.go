//go:build !race

// The race detector finds nothing in these computations and takes ten times as long.

package connectors_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

var exposed = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func checkNames(t testing.TB, slug string, tools []string) map[string]string {
	t.Helper()
	names := connectors.ExposedNames(slug, tools)
	taken := map[string]string{}
	for tool, name := range names {
		if !exposed.MatchString(name) || !strings.HasPrefix(name, "mcp_"+slug+"__") {
			t.Errorf("ExposedNames(%q): %q is %q", slug, tool, name)
		}
		if other, ok := taken[name]; ok {
			t.Errorf("ExposedNames(%q): %q and %q share %q", slug, tool, other, name)
		}
		taken[name] = tool
	}
	for _, tool := range tools {
		if names[tool] == "" {
			t.Errorf("ExposedNames(%q): %q has no name", slug, tool)
		}
	}
	return names
}

func TestExposedNames_PlainNameIsKept(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"search", "create_issue", "Get-Thing", "a__b", "_", "9", "get_projects", strings.Repeat("x", 64-len("mcp_linear__"))} {
		if got, want := connectors.ExposedName("linear", tool), "mcp_linear__"+tool; got != want {
			t.Errorf("%q is exposed as %q", tool, got)
		}
	}
}

func TestExposedNames_OthersAreSpelledAndTruncated(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 120)
	slug := strings.Repeat("s", 48)
	for _, s := range []string{"x", slug} {
		names := checkNames(t, s, []string{"a.b", "a b", "a_b", "a/b", "a//b", "日本語", "語", long, long + "x", long + "y", "A.b", ""})
		for tool, name := range names {
			if got := connectors.ExposedName(s, tool); got != name {
				t.Errorf("%q is %q alone and %q among others", tool, got, name)
			}
		}
	}
}

func TestExposedNames_AreIndependentOfOthers(t *testing.T) {
	t.Parallel()
	alone := connectors.ExposedNames("x", []string{"a.b"})["a.b"]
	among := connectors.ExposedNames("x", []string{"zzz", "a b", "a.b", "a_b", alone[len("mcp_x__"):]})["a.b"]
	if alone != among {
		t.Errorf("alone %q, among others %q", alone, among)
	}
}

func TestExposedNames_CannotBeForged(t *testing.T) {
	t.Parallel()
	given := strings.TrimPrefix(connectors.ExposedName("x", "a.b"), "mcp_x__")
	names := checkNames(t, "x", []string{"a.b", given})
	if names[given] == "mcp_x__"+given {
		t.Errorf("%q kept a name that was cut for another tool", given)
	}
}

func TestExposedNames_HashCollision(t *testing.T) {
	t.Parallel()
	// Names of symbols alone are all spelled "_", so only 32 bits of hash differ: among 200 000 some collide.
	tools := make([]string, 0, 200_000)
	for i := range 200_000 {
		tools = append(tools, strings.Map(func(r rune) rune { return r + 0x4e00 }, fmt.Sprint(i)))
	}
	names := checkNames(t, "x", tools)
	moved := 0
	for tool, name := range names {
		if connectors.ExposedName("x", tool) != name {
			moved++
		}
	}
	if moved == 0 {
		t.Error("no hashes met; the test shows nothing")
	}
	slices.Reverse(tools)
	for tool, name := range connectors.ExposedNames("x", tools) {
		if names[tool] != name {
			t.Fatalf("%q depends on the order of the list", tool)
		}
	}
}

func TestExposedNames_RandomToolsAreUnique(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 64))
	alphabet := []rune("aZ9_-. /é日\xff")
	word := func(longest int) string {
		runes := make([]rune, 1+r.IntN(longest))
		for i := range runes {
			runes[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(runes)
	}
	near := func(name string) string { // names that a naive spelling would make equal
		switch r.IntN(5) {
		case 0:
			return name + string(alphabet[r.IntN(len(alphabet))])
		case 1:
			return strings.NewReplacer(".", "_", " ", "_", "/", "_").Replace(name)
		case 2:
			return strings.TrimPrefix(connectors.ExposedName("x", name), "mcp_x__")
		case 3:
			return strings.ToUpper(name)
		}
		return word(128)
	}
	for range 100_000 {
		slug := []string{"x", "linear", "a-b", strings.Repeat("s", 48)}[r.IntN(4)]
		a := word(128)
		b := near(a)
		if a == b {
			continue
		}
		names := connectors.ExposedNames(slug, []string{a, b})
		if names[a] == names[b] || !exposed.MatchString(names[a]) || !exposed.MatchString(names[b]) {
			t.Fatalf("%q and %q of %s are %q and %q", a, b, slug, names[a], names[b])
		}
	}
}

func TestExposedNames_ConnectorsDoNotCollide(t *testing.T) {
	t.Parallel()
	taken := map[string]string{}
	for _, slug := range []string{"a", "a-b", "a-b-c", "mcp", strings.Repeat("a", 48), strings.Repeat("a", 47)} {
		for _, tool := range []string{"b__c", "b", "__b", "_", "a.b", strings.Repeat("a", 128), "c__b__c"} {
			name := connectors.ExposedName(slug, tool)
			if other, there := taken[name]; there {
				t.Errorf("%s of %s and %s share %q", tool, slug, other, name)
			}
			taken[name] = tool + " of " + slug
		}
	}
}

// FuzzExposedNames checks that any tools of a connector get distinct exposed names.
func FuzzExposedNames(f *testing.F) {
	f.Add("linear", "search", "create_issue", "a.b")
	f.Add("x", "a b", "a_b", "a.b")
	f.Add(strings.Repeat("s", 48), strings.Repeat("a", 128), strings.Repeat("a", 127), "_12345678")
	f.Add("x", "\xff", "\xfe", "_deadbeef")
	f.Fuzz(func(t *testing.T, slug, a, b, c string) {
		if !connectors.ValidSlug(slug) {
			return // not the slug of a connector
		}
		checkNames(t, slug, []string{a, b, c, strings.TrimPrefix(connectors.ExposedName(slug, a), "mcp_"+slug+"__")})
	})
}

// An agent with several accounts of a connector has it once for each.
func TestViewSlug_KeepsNamesApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("s", connectors.MaxSlug)
	taken := map[string]string{}
	for _, slug := range []string{"linear", "linear-work", "a", long, long[:47], strings.Repeat("a-", 23) + "a"} {
		for _, account := range []string{"", "work", "home", "work-2", "deadbeef", long, long[:47]} {
			name := slug
			if account != "" {
				name = connectors.ViewSlug(slug, account)
			}
			if of, isTaken := taken[name]; isTaken {
				t.Errorf("%s of %s is called %q, as %s", account, slug, name, of)
			}
			taken[name] = account + " of " + slug
			cut, ok := connectors.CutViewSlug(name)
			if !ok || len(name) > connectors.MaxSlug || !strings.HasPrefix(slug, cut) {
				t.Errorf("%q is cut to %q, %t", name, cut, ok)
			}
			tool := connectors.ExposedName(name, "create_issue")
			if back, ok := connectors.ExposedSlug(tool); !exposed.MatchString(tool) || !ok || back != cut {
				t.Errorf("the tool %q is of %q, %t", tool, back, ok)
			}
		}
	}
	if name := connectors.ExposedName(connectors.ViewSlug("linear", "work"), "create_issue"); name != "mcp_linear_work__create_issue" {
		t.Errorf("the tool is called %q", name)
	}
	for _, wrong := range []string{"", ".", "linear.", ".work", "linear.work.", "Linear.work", "linear_work", "linear.wo rk"} {
		if _, ok := connectors.CutViewSlug(wrong); ok {
			t.Errorf("%q has the form of a name", wrong)
		}
	}
}
