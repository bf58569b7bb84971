package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

func builtin(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBuiltin_FollowsRules(t *testing.T) {
	t.Parallel()
	c := builtin(t)
	all := c.Entries(catalog.Filter{})
	if len(all) < 40 {
		t.Errorf("only %d servers", len(all))
	}
	slugs, places, names := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range all {
		if slugs[e.Slug] || places[e.URL] || names[e.Name] {
			t.Errorf("%s is there twice", e.Slug)
		}
		slugs[e.Slug], places[e.URL], names[e.Name] = true, true, true
		for _, address := range []string{e.URL, e.Docs, e.Source} {
			if !strings.HasPrefix(address, "https://") {
				t.Errorf("%s: %q is not https", e.Slug, address)
			}
		}
		if !slices.Contains([]connectors.Transport{connectors.TransportStreamableHTTP, connectors.TransportSSE, connectors.TransportHTTP, connectors.TransportAPI}, e.Transport) || !slices.Contains(catalog.Auths, e.Auth) {
			t.Errorf("%s: transport %q, auth %q", e.Slug, e.Transport, e.Auth)
		}
		if e.Icon.Letters == "" || !slices.Contains(catalog.Colours, e.Icon.Colour) || e.Verified == "" || e.Own {
			t.Errorf("%+v", e)
		}
		if !strings.HasSuffix(e.Description, ".") || strings.Contains(e.Description, ". ") {
			t.Errorf("%s: %q is not one sentence", e.Slug, e.Description)
		}
		if problems := e.Draft().Normalized().Validate(); len(problems) > 0 {
			t.Errorf("%s makes no connector: %v", e.Slug, problems)
		}
		if e.OwnClient && e.Note == "" {
			t.Errorf("%s does not say where its client id comes from", e.Slug)
		}
	}
	if got := c.UsedCategories(); len(got) < 10 {
		t.Errorf("categories: %v", got)
	}
}

func TestEntries_FilterByWordsCategoryAndAuth(t *testing.T) {
	t.Parallel()
	c := builtin(t)
	for filter, want := range map[catalog.Filter]string{
		{Query: "ISSUES  cycles"}: "linear",
		{Query: "mcp.linear.app"}: "linear",
		{Query: "stripe", Category: "finance", Auth: connectors.AuthOAuth2}: "stripe",
		{Query: "stripe", Category: "design"}:                               "",
		{Query: "no such thing"}:                                            "",
		{Auth: connectors.AuthBasic}:                                        "bitbucket-api twilio-api",
	} {
		var found []string
		for _, e := range c.Entries(filter) {
			found = append(found, e.Slug)
		}
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%+v finds %q, want %q", filter, got, want)
		}
	}
}

const ownFile = `schema: 1
date: 2026-11-20
servers:
  - name: Wiki of the house
    category: internal
    description: Searches our wiki.
    url: http://wiki.internal:8080/mcp
    auth: {type: bearer}
  - name: Linear for us
    slug: linear
    category: projects
    description: Our own Linear.
    url: https://mcp.linear.app/mcp
    auth: {type: oauth2, scopes: [read]}
hide: [stripe, paypal]
`

func TestWith_AddsReplacesAndHides(t *testing.T) {
	t.Parallel()
	c, err := builtin(t).With([]byte(ownFile))
	if err != nil {
		t.Fatal(err)
	}
	wiki, err := c.Find("wiki-of-the-house")
	if err != nil || !wiki.Own || wiki.Icon.Letters != "WO" || wiki.Transport != connectors.TransportStreamableHTTP {
		t.Errorf("%+v %v", wiki, err)
	}
	linear, _ := c.Entry("linear")
	if linear.Name != "Linear for us" || !slices.Equal(linear.Draft().OAuth.Scopes, []string{"read"}) {
		t.Errorf("%+v", linear)
	}
	if _, err := c.Find("stripe"); !fault.Is(err, fault.NotFound) {
		t.Errorf("stripe is not hidden: %v", err)
	}
	if before, after := len(builtin(t).Entries(catalog.Filter{})), len(c.Entries(catalog.Filter{})); after != before+1-2 {
		t.Errorf("%d servers, of %d", after, before)
	}
	if _, there := builtin(t).Entry("stripe"); !there {
		t.Error("the operator's file changed the catalog of others")
	}
}

func TestWith_ErrorHasLineAndField(t *testing.T) {
	t.Parallel()
	entry := func(lines string) string {
		return "schema: 1\ndate: 2026-11-20\nservers:\n  - name: X\n    category: internal\n    description: Is X.\n    url: https://x.example/mcp\n    auth: {type: none}\n" + lines
	}
	for document, want := range map[string]string{
		"":                                       "schema: Add schema: 1.",
		"schema: 2\n":                            "line 1: schema: Schema must be 1.",
		"schema: [\n":                            "line 1: Invalid YAML: ",
		"schema: 1\ndate: x\n":                   "line 2: date: Add the file's date, as date: 20",
		entry("  - {}\n"):                        "line 9: category: Choose one of development",
		entry("    colour: 3\n"):                 "line 9: colour: Unknown field.",
		entry("    icon: {letters: ABC}\n"):      "line 9: icon: Use 1–2 letters or digits.",
		entry("    icon: {colour: beige}\n"):     "Choose one of the colours slate",
		entry("    docs: javascript:alert(1)\n"): "line 9: docs: Enter a URL starting with https://.",
		entry("    transport: stdio\n"):          "line 9: transport: Choose streamable_http, sse, http or api.",
		entry("    verified: [1]\n"):             "line 9: Wrong type for this field.",
		entry("    name: Y\n"):                   "already defined",
		entry("    note: \"a\u202eb\"\n"):        "line 9: note: One line, at most 240 visible characters.",
		entry("  - {name: X, category: web, description: Y., url: 'https://y.example/', auth: {type: none}}\n"):                          "line 9: slug: The slug x is already in the file.",
		entry("  - {name: Z, category: web, description: Y., url: 'ftp://y.example/', auth: {type: none}}\n"):                            "line 9: url: Enter an http:// or https:// URL with a host.",
		entry("  - {name: Z, category: web, description: Y., url: 'https://u:p@y.example/', auth: {type: none}}\n"):                      "line 9: url: Set credentials as authentication, not in the URL.",
		entry("  - {name: Z, category: web, description: Y., url: 'https://y.example/', auth: {type: api_key, header: 'bad header'}}\n"): "line 9: auth.header",
		entry("  - {name: Z, category: web, description: Y., url: 'https://y.example/', auth: {type: none, scopes: [a]}}\n"):             "line 9: auth: Scopes and own_client need oauth2.",
		entry("  - {name: Z, category: web, description: Y., url: 'https://y.example/', auth: {type: client_credentials}}\n"):            "line 9: auth.type: Choose one of oauth2",
		entry("hide: [nobody]\n"):         "line 9: hide: No server nobody to hide.",
		entry("---\nschema: 1\n"):         "must be a single YAML document",
		"# " + strings.Repeat("x", 1<<20): "larger than 1 MiB",
	} {
		_, err := builtin(t).With([]byte(document))
		if err == nil || !strings.Contains(fault.As(err).Message, want) {
			t.Errorf("%q: %v, want %q", document[:min(len(document), 300)], err, want)
		}
	}
}

func TestIcon_IsDeterministic(t *testing.T) {
	t.Parallel()
	for name, letters := range map[string]string{"wiki": "Wi", "Our Wiki of X": "OW", "Ä": "Ä", "7 things": "7T"} {
		document := fmt.Sprintf("schema: 1\ndate: 2026-11-20\nservers:\n  - {name: %q, slug: z-own, category: web, description: Y., url: 'https://y.example/', auth: {type: none}}\n", name)
		for range 2 {
			c, err := builtin(t).With([]byte(document))
			if err != nil {
				t.Fatal(err)
			}
			if e, _ := c.Entry("z-own"); e.Icon.Letters != letters || e.Icon.Colour != "slate" {
				t.Errorf("%s: %+v", name, e.Icon)
			}
		}
	}
}

// FuzzWith checks that each entry of an accepted catalog file makes a valid connector.
func FuzzWith(f *testing.F) {
	f.Add([]byte(ownFile))
	f.Add([]byte("schema: 1\ndate: 2026-11-20\nhide: &a [{}]\nservers: *a\n"))
	f.Add([]byte("servers: [{auth: 1}, null, {icon: {}}]\nhide: {a: b}\nschema: 1"))
	c, err := catalog.Builtin()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		with, err := c.With(document)
		if err != nil {
			return
		}
		for _, e := range with.Entries(catalog.Filter{}) {
			if problems := e.Draft().Normalized().Validate(); len(problems) > 0 {
				t.Errorf("%s makes no connector: %v", e.Slug, problems)
			}
		}
	})
}
