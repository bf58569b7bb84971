package manage_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/safehttp"
)

func newCatalogEnv(t *testing.T) *testEnv {
	t.Helper()
	c, err := catalog.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	b := newTestEnv(t)
	b.reg = b.reg.WithCatalog(c)
	return b
}

// added returns the slug of an entry's connector, or "".
func (b *testEnv) added(t *testing.T, slug string) string {
	t.Helper()
	offers, err := b.reg.Offers(t.Context(), b.actor(connectors.RoleViewer), catalog.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range offers {
		if o.Slug == slug && o.Added != nil {
			return o.Added.Slug
		}
	}
	return ""
}

func TestAddOffer_OnlyOnce(t *testing.T) {
	t.Parallel()
	b := newCatalogEnv(t)
	if got := b.added(t, "linear"); got != "" {
		t.Errorf("added before: %q", got)
	}
	c, e, err := b.reg.AddOffer(t.Context(), b.admin, "linear")
	if err != nil || c.Slug != "linear" || c.URL != e.URL || c.Auth.Type != connectors.AuthOAuth2 {
		t.Fatalf("%+v %v", c, err)
	}
	if got := b.added(t, "linear"); got != "linear" {
		t.Errorf("added: %q", got)
	}
	if _, _, err = b.reg.AddOffer(t.Context(), b.admin, "linear"); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second time: %v", err)
	}
	if diff := cmp.Diff([]string{"connector.create"}, b.audited(t)); diff != "" {
		t.Error(diff)
	}
	if _, _, err = b.reg.AddOffer(t.Context(), b.admin, "nobody"); !fault.Is(err, fault.NotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	if _, _, err = b.reg.AddOffer(t.Context(), b.actor(connectors.RoleMember), "stripe"); !fault.Is(err, fault.Denied) {
		t.Errorf("by a member: %v", err)
	}
}

func TestAddOffer_WholeCatalog(t *testing.T) {
	t.Parallel()
	b := newCatalogEnv(t)
	offers, err := b.reg.Offers(t.Context(), b.admin, catalog.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range offers {
		if o.Transport == connectors.TransportAPI { // its document is fetched
			continue
		}
		if _, _, err := b.reg.AddOffer(t.Context(), b.admin, o.Slug); err != nil {
			t.Errorf("%s: %v", o.Slug, err)
		}
	}
}

func TestOffers_MarkAddedConnectors(t *testing.T) {
	t.Parallel()
	b := newCatalogEnv(t)
	for url, want := range map[string]string{
		"https://mcp.linear.app/mcp/": "linear", "https://MCP.linear.app/mcp": "linear", "https://mcp.supabase.com/mcp?read_only=true": "supabase",
		"https://mcp.linear.app/mcp/other": "", "https://mcp.linear.app:8443/mcp": "", "https://mcp.example.com/mcp": "",
	} {
		c := b.create(t, connectors.Secret{}, func(d *connectors.Draft) { d.URL, d.Slug, d.Name = url, "", "At "+strings.ToLower(url[8:]) })
		found := ""
		for _, slug := range []string{"linear", "supabase"} {
			if b.added(t, slug) == c.Slug {
				found = slug
			}
		}
		if found != want {
			t.Errorf("%s makes %q added, want %q", url, found, want)
		}
		if err := b.reg.DeleteConnector(t.Context(), b.admin, connectors.Ref(c.Slug)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOffers_IgnoreOtherTenants(t *testing.T) {
	t.Parallel()
	b := newCatalogEnv(t)
	if _, _, err := b.reg.AddOffer(t.Context(), b.admin, "linear"); err != nil {
		t.Fatal(err)
	}
	b.admin.Tenant.ID = b.Other
	offers, err := b.reg.Offers(t.Context(), b.admin, catalog.Filter{Query: "linear"})
	if err != nil || len(offers) == 0 || offers[0].Added != nil {
		t.Errorf("%+v %v", offers, err)
	}
	if c, _, err := b.reg.AddOffer(t.Context(), b.admin, "linear"); err != nil || c.Slug != "linear" {
		t.Errorf("%+v %v", c, err)
	}
}

func TestCreateConnector_NumbersGeneratedSlug(t *testing.T) {
	t.Parallel()
	b := newCatalogEnv(t)
	b.create(t, connectors.Secret{}, func(d *connectors.Draft) { d.Slug, d.Name = "sentry", "Ours" })
	if c, _, err := b.reg.AddOffer(t.Context(), b.admin, "sentry"); err != nil || c.Slug != "sentry-2" {
		t.Errorf("%+v %v", c, err)
	}
	b.create(t, connectors.Secret{}, func(d *connectors.Draft) { d.Slug, d.Name, d.URL = "pay", "Stripe", "https://two.example.com/mcp" })
	if _, _, err := b.reg.AddOffer(t.Context(), b.admin, "stripe"); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
}

func TestAddOffer_ConcurrentCallsCreateOne(t *testing.T) {
	t.Parallel()
	b := newCatalogEnv(t)
	errs := make([]error, 4)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, _, errs[i] = b.reg.AddOffer(t.Context(), b.admin, "linear") })
	}
	all.Wait()
	made := 0
	for _, err := range errs {
		switch {
		case err == nil:
			made++
		case !fault.Is(err, fault.Conflict):
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d were made", made)
	}
}

// listed returns a registry's server list with names and URLs.
func listed(servers ...[2]string) string {
	var all []string
	for _, s := range servers {
		all = append(all, fmt.Sprintf(`{"server": {"name": %q, "description": "From a list.", "version": "1", "remotes": [{"type": "streamable-http", "url": %q}]}}`, s[0], s[1]))
	}
	return `{"servers": [` + strings.Join(all, ",") + `]}`
}

func TestImport_ListedServerNeverUpdates(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	b.create(t, connectors.Secret{}, func(d *connectors.Draft) { d.Slug, d.Name, d.URL = "linear", "Ours", "https://mcp.linear.app/mcp" })
	document := listed([2]string{"com.evil/linear", "https://evil.example.com/mcp"}, [2]string{"app.linear/other", "https://mcp.linear.app/mcp/"}, [2]string{"com.evil/again", "https://evil.example.com/mcp"})
	want := []string{"com.evil/linear created", "app.linear/other unchanged", "com.evil/again refused url: Another server here has the same URL."}
	for _, dry := range []bool{true, false} {
		if diff := cmp.Diff(want, b.imports(t, document, dry)); diff != "" {
			t.Errorf("dry %t: %s", dry, diff)
		}
	}
	ours, err := b.Door().Connectors().Get(t.Context(), "linear")
	if err != nil || ours.URL != "https://mcp.linear.app/mcp" || ours.Description == "From a list." {
		t.Errorf("%+v %v", ours, err)
	}
	if evil, err := b.Door().Connectors().Get(t.Context(), "linear-2"); err != nil || evil.URL != "https://evil.example.com/mcp" {
		t.Errorf("%+v %v", evil, err)
	}
	want[0] = "com.evil/linear unchanged"
	want[2] = "com.evil/again unchanged"
	if diff := cmp.Diff(want, b.imports(t, document, false)); diff != "" {
		t.Error(diff)
	}
}

func TestImport_ListedServerEgress(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	document := listed([2]string{"a.a/one", "https://127.0.0.1/mcp"}, [2]string{"a.a/two", "http://two.example.com/mcp"}, [2]string{"a.a/three", "https://10.1.2.3/mcp"}, [2]string{"a.a/four", "https://metadata.internal/mcp"}, [2]string{"a.a/five", "javascript:alert(1)"})
	for _, line := range b.imports(t, document, false) {
		if !strings.Contains(line, " refused url: ") {
			t.Error(line)
		}
	}
	report, err := b.reg.Import(t.Context(), b.admin, []byte(document), manage.ImportOptions{Dry: true})
	if err != nil || report.Count(manage.Refused) != 5 {
		t.Errorf("%+v %v", report, err)
	}
}

// TestAddOffer_OfAnAPI fetches the document of an HTTP API; its operations wait to be picked.
func TestAddOffer_OfAnAPI(t *testing.T) {
	t.Parallel()
	b := newCatalogEnv(t)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, "../catalog/testdata/apis/figma-api.yaml")
	}))
	t.Cleanup(up.Close)
	own := "schema: 1\ndate: 2026-11-29\nservers:\n  - name: Notes\n    category: internal\n    description: Keeps notes.\n    url: " + up.URL +
		"/openapi.yaml\n    transport: api\n    auth: {type: api_key, header: X-Figma-Token}\n"
	c, err := catalog.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.With([]byte(own)); err != nil {
		t.Fatal(err)
	}
	b.reg = manage.New(b.St, safehttp.New(safehttp.Options{Mode: safehttp.Local})).WithCatalog(c)
	made, _, err := b.reg.AddOffer(t.Context(), b.admin, "notes")
	if err != nil {
		t.Fatal(err)
	}
	o, err := b.reg.Operations(t.Context(), b.Tenant, connectors.Ref(made.Slug))
	if err != nil || len(o.Operations) != 1 || o.Operations[0].IsPicked {
		t.Errorf("%+v, %v", o.Operations, err)
	}
	if made.Transport != connectors.TransportAPI || made.Auth.Header != "X-Figma-Token" || made.Slug != "notes" {
		t.Errorf("%+v", made)
	}
	if _, _, err := b.reg.AddOffer(t.Context(), b.admin, "notes"); !fault.Is(err, fault.Conflict) {
		t.Errorf("added twice: %v", err)
	}
}
