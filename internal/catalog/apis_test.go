package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/openapi"
)

// apiServers are the servers that the documents name first.
var apiServers = map[string]string{
	"asana-api": "https://app.asana.com/api/1.0", "bitbucket-api": "https://api.bitbucket.org/2.0", "digitalocean-api": "https://api.digitalocean.com",
	"discord-api": "https://discord.com/api/v10", "figma-api": "https://api.figma.com", "github-api": "https://api.github.com",
	"linode-api": "https://api.linode.com", "pagerduty-api": "https://api.pagerduty.com", "resend-api": "https://api.resend.com",
	"sendgrid-mail": "https://api.sendgrid.com", "spotify-api": "https://api.spotify.com/v1", "square-api": "https://connect.squareup.com",
	"stripe-api": "https://api.stripe.com", "twilio-api": "https://api.twilio.com", "vercel-api": "https://api.vercel.com",
	"xero-api": "https://api.xero.com/api.xro/2.0",
}

// TestBuiltin_APIsAreWhatTheirDocumentsSay compares the entries of HTTP APIs with reduced copies of their documents: URL, title, server,
// ways to sign in and some operations.
func TestBuiltin_APIsAreWhatTheirDocumentsSay(t *testing.T) {
	t.Parallel()
	stored := map[string]bool{}
	files, err := filepath.Glob("testdata/apis/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		stored[strings.TrimSuffix(filepath.Base(file), ".yaml")] = true
	}
	apis := 0
	for _, e := range builtin(t).Entries(catalog.Filter{}) {
		if e.Transport != connectors.TransportAPI {
			continue
		}
		apis++
		if !stored[e.Slug] {
			t.Errorf("%s: no copy of its document", e.Slug)
			continue
		}
		delete(stored, e.Slug)
		text, err := os.ReadFile(filepath.Join("testdata/apis", e.Slug+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		document, err := openapi.Read(text, openapi.Options{URL: e.URL})
		if err != nil {
			t.Errorf("%s: %v", e.Slug, err)
			continue
		}
		if len(document.Operations) == 0 || len(document.Problems) > 0 {
			t.Errorf("%s: %d operations, %v left out", e.Slug, len(document.Operations), document.Problems)
		}
		if address, err := document.Address(); err != nil || address != apiServers[e.Slug] {
			t.Errorf("%s: server %q, want %q: %v", e.Slug, address, apiServers[e.Slug], err)
		}
		for _, problem := range compareSource(t, e, text, document.Title) {
			t.Errorf("%s: %s", e.Slug, problem)
		}
		if !offersSignIn(document, e) {
			t.Errorf("%s: its document does not offer %s", e.Slug, e.Auth)
		}
	}
	for slug := range stored {
		t.Errorf("%s is not in the catalog", slug)
	}
	if apis < 15 {
		t.Errorf("only %d APIs", apis)
	}
}

func TestCompareSource_SeesWrongEntries(t *testing.T) {
	t.Parallel()
	e, _ := builtin(t).Entry("stripe-api")
	text, err := os.ReadFile("testdata/apis/stripe-api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*catalog.Entry){
		"URL": func(e *catalog.Entry) { e.URL = strings.Replace(e.URL, "spec3", "spec4", 1) }, "title": func(e *catalog.Entry) { e.Name = "Strip API" },
	} {
		wrong := e
		change(&wrong)
		if len(compareSource(t, wrong, text, "Stripe API")) != 1 || len(compareSource(t, e, text, "Stripe API")) != 0 {
			t.Errorf("a wrong %s isn't seen", name)
		}
	}
}

// documentSource says of which document a copy was reduced: one in a repository on GitHub, or in an npm package.
type documentSource struct {
	URL, Read, Repository, Commit, Package, Path, SHA256 string
}

// compareSource returns what differs between an entry and the source of its document.
func compareSource(t *testing.T, e catalog.Entry, text []byte, title string) (problems []string) {
	t.Helper()
	var file struct {
		Source documentSource `yaml:"x-source"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	s := file.Source
	if e.URL != s.URL {
		problems = append(problems, fmt.Sprintf("the URL %s isn't that of the document, %s", e.URL, s.URL))
	}
	for word := range strings.FieldsSeq(e.Name) {
		if word != "API" && !slices.Contains(strings.Fields(strings.ToLower(title)), strings.ToLower(word)) {
			problems = append(problems, fmt.Sprintf("%q of the name is not in the title %q", word, title))
		}
	}
	if _, err := time.Parse(time.DateOnly, s.Read); err != nil {
		problems = append(problems, err.Error())
	}
	switch {
	case s.Repository != "":
		tail, isRaw := strings.CutPrefix(s.URL, "https://raw.githubusercontent.com/"+s.Repository+"/")
		if !isRaw || !strings.HasSuffix(tail, "/"+s.Path) || e.Source != "https://github.com/"+s.Repository || len(s.Commit) != 40 {
			problems = append(problems, fmt.Sprintf("the repository is not that of the URL and the source: %+v", s))
		}
	case !isFetched(t, s):
		problems = append(problems, fmt.Sprintf("the package is not in conformance/openapi/documents.txt: %+v", s))
	}
	return problems
}

// isFetched reports whether a document is one that conformance/openapi fetches.
func isFetched(t *testing.T, s documentSource) bool {
	t.Helper()
	list, err := os.ReadFile("../../conformance/openapi/documents.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(list), " "+s.Package+" "+s.Path+" "+s.SHA256+" ")
}

// offersSignIn reports whether a document has a way to sign in as an entry does. A token of OAuth is also sent as a bearer token, and a
// document without any way leaves it to the documentation.
func offersSignIn(document *openapi.Document, e catalog.Entry) bool {
	proposals := document.Proposals(document.Operations)
	for _, p := range proposals {
		same := p.Type == string(e.Auth) && (e.Auth != connectors.AuthAPIKey || p.In == "header" && p.Name == e.Header)
		if same || p.Type == "oauth2" && e.Auth == connectors.AuthBearer {
			return true
		}
	}
	return len(proposals) == 0 && e.Note != ""
}
