package admin_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

var (
	rowName  = regexp.MustCompile(`<a class="cover[^>]*>([^<]+)</a>`)
	sortHead = regexp.MustCompile(`<th scope="col" class="sortable[^"]*"( aria-sort="[a-z]+")?><a href="([^"]+)">([^<]+)</a>`)
)

// rowNames are the names in a table, from top to bottom.
func (p page) rowNames() []string {
	var names []string
	for _, found := range rowName.FindAllStringSubmatch(p.Body, -1) {
		names = append(names, found[1])
	}
	return names
}

// sortLinks are the addresses behind a table's heads, and the current sort.
func (p page) sortLinks() (leads map[string]string, sorted string) {
	leads = map[string]string{}
	for _, found := range sortHead.FindAllStringSubmatch(p.Body, -1) {
		leads[found[3]] = strings.ReplaceAll(found[2], "&amp;", "&")
		if found[1] != "" {
			sorted += found[3] + found[1]
		}
	}
	return leads, sorted
}

func TestListOrder_SortsByColumn(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for name, tools := range map[string][]string{"Atlas": {"a"}, "Birch": {"a", "b", "c"}, "Cedar": {"a", "b"}} {
		c := d.Connector(t, func(c *connectors.Draft) { c.Name = name })
		d.Synced(t, c.ID, tools...)
	}
	b := d.signInAsRole(connectors.RoleViewer)
	see := func(path, sorted string, names ...string) map[string]string {
		t.Helper()
		p := b.get(path)
		leads, by := p.sortLinks()
		if diff := cmp.Diff(names, p.rowNames()); diff != "" || by != sorted {
			t.Errorf("%s is sorted by %q:\n%s", path, by, diff)
		}
		return leads
	}
	leads := see("/connectors?q=ced", `Name aria-sort="ascending"`, "Cedar")
	if want := "/connectors?q=ced&sort=-tools"; leads["Tools"] != want {
		t.Errorf("Tools leads to %s, not to %s", leads["Tools"], want)
	}
	leads = see("/connectors", `Name aria-sort="ascending"`, "Atlas", "Birch", "Cedar")
	leads = see(leads["Tools"], `Tools aria-sort="descending"`, "Birch", "Cedar", "Atlas")
	leads = see(leads["Tools"], `Tools aria-sort="ascending"`, "Atlas", "Cedar", "Birch")
	leads = see(leads["Name"], `Name aria-sort="ascending"`, "Atlas", "Birch", "Cedar")
	see(leads["Name"], `Name aria-sort="descending"`, "Cedar", "Birch", "Atlas")
	see("/connectors?sort=secret", `Name aria-sort="ascending"`, "Atlas", "Birch", "Cedar")
	if csv := b.get("/exports/connectors?sort=-tools&format=csv").Body; strings.Index(csv, "Birch") > strings.Index(csv, "Atlas") {
		t.Errorf("the file is sorted otherwise:\n%s", csv)
	}
}

func TestListOrder_EveryColumnHeadSorts(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.ownThings()
	b := d.signInAsRole(connectors.RoleOwner)
	for _, path := range []string{"/connectors", "/agents", "/tools"} {
		leads, _ := b.get(path).sortLinks()
		if len(leads) < 3 {
			t.Errorf("%s has %d heads: %v", path, len(leads), leads)
		}
		for name, to := range leads {
			p := b.get(to)
			p.want(t, http.StatusOK, `class="cover`)
			if _, sorted := p.sortLinks(); !strings.HasPrefix(sorted, name+" ") {
				t.Errorf("%s is sorted by %q, not by %s", to, sorted, name)
			}
		}
	}
}

func TestPageSize_IsReadFromAddressAndRemembered(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t)
	tools := make([]string, 60)
	for i := range tools {
		tools[i] = fmt.Sprintf("tool_%02d", i)
	}
	d.Synced(t, c.ID, tools...)
	manyAgents(t, d.World, 30)
	b := d.signInAsRole(connectors.RoleViewer)
	rows := func(path string) int { t.Helper(); return len(b.get(path).rowNames()) }
	if n := rows("/tools"); n != 50 {
		t.Errorf("%d rows when nothing was chosen", n)
	}
	b.get("/tools?q=tool").want(t, http.StatusOK, `href="/tools?q=tool&size=25"`, `href="/tools?q=tool&size=50" aria-current="true"`)
	if n := rows("/tools?size=25&sort=-name"); n != 25 {
		t.Errorf("%d rows where 25 were chosen", n)
	}
	if n := rows("/agents"); n != 25 {
		t.Errorf("%d rows of another list", n)
	}
	for _, odd := range []string{"7", "1000", "-25", "x", ""} {
		if n := rows("/tools?size=" + odd); n != 25 {
			t.Errorf("%d rows with size=%s", n, odd)
		}
	}
	p := b.get("/tools?sort=-name")
	seen := p.rowNames()
	for next := nextPage.FindStringSubmatch(p.Body); next != nil; next = nextPage.FindStringSubmatch(p.Body) {
		p = b.get(strings.ReplaceAll(next[1], "&amp;", "&"))
		seen = append(seen, p.rowNames()...)
	}
	if len(seen) != 60 || seen[0] != "tool_59" || seen[59] != "tool_00" {
		t.Errorf("page by page: %v", seen)
	}
}

var nextPage = regexp.MustCompile(`rel="next" href="([^"]+)"`)

func manyAgents(t *testing.T, w *fixture.World, n int) {
	t.Helper()
	for range n {
		w.Agent(t)
	}
}
