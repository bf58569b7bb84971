package shell

import (
	"net/url"
	"strconv"
	"testing"

	"patchbay/web/templates"
)

// pageAt is the pager of the page at an address, in a list of pages of 50 rows. Its cursors are "c1", "c2" and so on.
func pageAt(t *testing.T, address string, pages int) templates.Pager {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(u.Query().Get("cursor")[min(1, len(u.Query().Get("cursor"))):]) // no cursor: page 0
	next := ""
	if n+1 < pages {
		next = "c" + strconv.Itoa(n+1)
	}
	return newPager(u.Path, u.Query(), next, 50)
}

func TestPager_LeadsForthAndBack(t *testing.T) {
	t.Parallel()
	const first = "/calls?status=error"
	at, addresses := first, []string{}
	for at != "" {
		addresses = append(addresses, at)
		p := pageAt(t, at, 5)
		if want := 50*(len(addresses)-1) + 1; p.From != want || p.To != want+49 {
			t.Errorf("%s has the rows %d–%d, want them from %d", at, p.From, p.To, want)
		}
		at = p.Next
	}
	if len(addresses) != 5 {
		t.Fatalf("%d pages: %v", len(addresses), addresses)
	}
	for i := len(addresses) - 1; i > 0; i-- {
		p := pageAt(t, addresses[i], 5)
		if p.Previous != addresses[i-1] {
			t.Errorf("page %d leads back to %s, want %s", i, p.Previous, addresses[i-1])
		}
		if wantsFirst := i > 1; (p.First == first) != wantsFirst {
			t.Errorf("page %d leads to the first at %q", i, p.First)
		}
	}
	if p := pageAt(t, first, 5); p.Previous != "" || p.First != "" {
		t.Errorf("the first page leads back: %+v", p)
	}
}

func TestPager_WayBackIsBounded(t *testing.T) {
	t.Parallel()
	at := "/audit"
	for range 100 {
		at = pageAt(t, at, 200).Next
	}
	steps := 0
	for p := pageAt(t, at, 200); p.Previous != ""; p = pageAt(t, p.Previous, 200) {
		if steps++; p.First != "/audit" {
			t.Fatalf("after %d steps the first page is at %q", steps, p.First)
		}
	}
	if steps != maxPagesBack-1 || len(at) > 500 {
		t.Errorf("%d steps back, %d characters", steps, len(at))
	}
	for _, forged := range []string{"/audit?cursor=c9&row=-5&back=~~", "/audit?cursor=c9&row=x&back=c8.x", "/audit?cursor=c9&back=.~.."} {
		if p := pageAt(t, forged, 200); p.Previous != "" || p.First != "/audit" {
			t.Errorf("%s: %+v", forged, p)
		}
	}
}
