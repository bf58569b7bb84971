package admin_test

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
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
	maps.Copy(r.Header, b.header)
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
	paths := []string{"/search?q=search"}
	for _, pattern := range pagePatterns() {
		paths = append(paths, ids.fill(pattern))
	}
	d.weighed(b, paths...)
}

func TestPagesForWhoeverIsNotSignedInAreLight(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	made := d.as(connectors.RoleOwner).post("/invitations", url.Values{"email": {"grace@example.com"}, "role": {"member"}})
	invited, _ := linkIn(t, made)
	d.weighed(d.browser(), "/login", invited)
}

// weighed says which of some pages transfer too much.
func (d *dashboard) weighed(b *browser, paths ...string) {
	d.t.Helper()
	scale := scale{b: b, files: map[string]int{}}
	for _, path := range paths {
		if first, next := scale.weigh(path); first > firstVisit || next > nextVisit {
			d.t.Errorf("%s transfers %d KiB on a first visit, and %d KiB after", path, first>>10, next>>10)
		}
	}
}

// scale weighs pages with what they load.
type scale struct {
	b     *browser
	files map[string]int // the bytes of files that were weighed
}

// weigh tells the bytes of a page with all of its files, and those of the page alone.
func (s scale) weigh(path string) (first, next int) {
	s.b.t.Helper()
	next = len(s.b.transferred(path, "gzip"))
	first = next
	seen := map[string]bool{}
	css := string(s.b.transferred(web.Asset("app.css"), "identity"))
	for _, file := range append(asset.FindAllString(s.b.get(path).Body, -1), monoFont.FindString(css)) {
		if seen[file] {
			continue
		}
		seen[file] = true
		if s.files[file] == 0 {
			s.files[file] = len(s.b.transferred(file, "gzip"))
		}
		first += s.files[file]
	}
	return first, next
}
