package admin_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/web"
)

// What a page may transfer: all of it on a first visit, and what no browser has kept afterwards.
const (
	firstVisit = 150 << 10
	nextVisit  = 30 << 10
)

// asset is the address of a static file in a page.
var (
	asset    = regexp.MustCompile(`/static/[a-z-]+\.[0-9a-f]{16}\.[a-z0-9]+`)
	monoFont = regexp.MustCompile(`/static/geist-mono-latin\.[0-9a-f]{16}\.[a-z0-9]+`)
)

func (b *browser) transferred(path, encoding string) []byte {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", encoding) // set by hand, so that the client does not unpack it
	res, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %d, %v", path, res.StatusCode, err)
	}
	return body
}

func TestPagesAreLight(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, ids := d.as(connectors.RoleOwner), d.own()
	ids.link = d.link(b)
	for range 60 { // more than a page of them
		c, a := d.Connector(t), d.Agent(t)
		d.Synced(t, c.ID, "search", "create_issue")
		d.waitingIn(d.Tenant, a, c)
		d.taskIn(d.Tenant, a, c, working("Reading page 40 of 100"))
		d.Member(t, connectors.RoleViewer)
		d.APIKey(t, connectors.RoleViewer)
	}
	weights, weighed := map[string]int{}, 0
	files := func(page string) (sum int) {
		css := string(b.transferred(web.Asset("app.css"), "identity"))
		seen := map[string]bool{}
		for _, file := range append(asset.FindAllString(page, -1), monoFont.FindString(css)) {
			if seen[file] {
				continue
			}
			seen[file] = true
			if weights[file] == 0 {
				weights[file] = len(b.transferred(file, "gzip"))
			}
			sum += weights[file]
		}
		return sum
	}
	for route := range routeRoles {
		method, pattern, _ := strings.Cut(route, " ")
		if method != http.MethodGet || pattern == "/events" || elsewhere[pattern] != 0 || strings.HasPrefix(pattern, "/exports/") || pattern == "/connectors/export" || strings.Contains(pattern, "/pictures/") {
			continue
		}
		page := b.get(ids.fill(pattern))
		if page.Status != http.StatusOK { // it wants more than an address
			continue
		}
		weighed++
		own := len(b.transferred(ids.fill(pattern), "gzip"))
		if all := own + files(page.Body); all > firstVisit || own > nextVisit {
			t.Errorf("%s transfers %d KiB on a first visit, and %d KiB after", pattern, all>>10, own>>10)
		}
	}
	if weighed < 40 {
		t.Errorf("only %d pages were weighed", weighed)
	}
}
