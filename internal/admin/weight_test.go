//go:build !race

// Requests one after the other: the race detector finds nothing here and takes ten times as long.

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

// Maximum bytes of a page: on a first load, and later with cached files.
const (
	maxFirstLoad = 150 << 10
	maxNextLoad  = 30 << 10
)

var (
	asset    = regexp.MustCompile(`/static/[a-z-]+\.[0-9a-f]{16}\.[a-z0-9]+`)
	monoFont = regexp.MustCompile(`/static/geist-mono-latin\.[0-9a-f]{16}\.[a-z0-9]+`)
)

func (b *browser) download(path, encoding string) []byte {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	maps.Copy(r.Header, b.header)
	r.Header.Set("Accept-Encoding", encoding) // set by hand, so that the client does not decompress
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
	b, ids := d.signInAsRole(connectors.RoleOwner), d.ownThings()
	ids.link = d.createConnectLink(b)
	for range 60 { // more than a page of them
		c, a := d.Connector(t), d.Agent(t)
		d.Synced(t, c.ID, "search", "create_issue")
		d.createWaitingCall(d.Tenant, a, c)
		d.createTaskCall(d.Tenant, a, c, taskDocument("Reading page 40 of 100"))
		d.Member(t, connectors.RoleViewer)
		d.APIKey(t, connectors.RoleViewer)
	}
	paths := []string{"/search?q=search"}
	for _, pattern := range pagePatterns() {
		paths = append(paths, ids.fill(pattern))
	}
	d.wantLightPages(b, paths...)
}

func TestPageWeight_SignedOut(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	made := d.signInAsRole(connectors.RoleOwner).post("/invitations", url.Values{"email": {"grace@example.com"}, "role": {"member"}})
	invited, _ := findInvitationLink(t, made)
	d.wantLightPages(d.browser(), "/login", invited)
}

// wantLightPages fails the test for pages that are too large.
func (d *dashboard) wantLightPages(b *browser, paths ...string) {
	d.t.Helper()
	scale := pageScale{b: b, files: map[string]int{}}
	for _, path := range paths {
		if first, next := scale.measurePage(path); first > maxFirstLoad || next > maxNextLoad {
			d.t.Errorf("%s transfers %d KiB on a first visit, and %d KiB after", path, first>>10, next>>10)
		}
	}
}

// pageScale measures pages with their files.
type pageScale struct {
	b     *browser
	files map[string]int // sizes of measured files
}

// measurePage returns the bytes of a page with all of its files, and of the page alone.
func (s pageScale) measurePage(path string) (first, next int) {
	s.b.t.Helper()
	next = len(s.b.download(path, "gzip"))
	first = next
	seen := map[string]bool{}
	css := string(s.b.download(web.Asset("app.css"), "identity"))
	for _, file := range append(asset.FindAllString(s.b.get(path).Body, -1), monoFont.FindString(css)) {
		if seen[file] {
			continue
		}
		seen[file] = true
		if s.files[file] == 0 {
			s.files[file] = len(s.b.download(file, "gzip"))
		}
		first += s.files[file]
	}
	return first, next
}
