package publicregistry

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// Entries of a page.
const (
	defaultPage = 30
	maxPage     = 100

	maxCursorSlug = 100 // bytes: more than any slug has
)

const latest = "latest"

// request is what a client asks for.
type request struct {
	slug     string // of one entry; empty: a page of entries
	versions bool   // the list of an entry's versions
	version  string // of the entry or entries; empty or "latest": any
	after    string // slug of the last entry of the page before; empty: the first page
	limit    int
	search   string
	since    *time.Time
}

// splitPath splits a path into the address and what follows it. Any text may be an address: it is only hashed.
func splitPath(u *url.URL) (address secret.Text, rest string) {
	segment, rest, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), pathPrefix), "/")
	if plain, err := url.PathUnescape(segment); err == nil {
		segment = plain
	}
	return secret.Text(segment), rest
}

// parseRequest reads what follows the address: v0.1/servers, v0.1/servers/{name}/versions and
// v0.1/servers/{name}/versions/{version}. The slash in a name may be escaped or not: some proxies unescape it.
func (s *Service) parseRequest(r *http.Request, rest string) (request, error) {
	rest, ok := strings.CutPrefix(strings.Trim(rest, "/"), "v0.1/servers")
	if !ok || rest != "" && rest[0] != '/' {
		return request{}, newNotFound()
	}
	if rest == "" {
		return parseQuery(r.URL.Query())
	}
	segments := strings.Split(rest[1:], "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			return request{}, newNotFound()
		}
		segments[i] = plain
	}
	ask := request{versions: true}
	if n := len(segments); n > 2 && segments[n-2] == "versions" {
		ask.versions, ask.version, segments = false, segments[n-1], segments[:n-1]
	}
	n := len(segments)
	if n < 2 || segments[n-1] != "versions" {
		return request{}, newNotFound()
	}
	name := strings.Join(segments[:n-1], "/")
	if ask.slug, ok = strings.CutPrefix(name, s.namespace+"/"); !ok || ask.slug == "" || ask.version == "" && !ask.versions {
		return request{}, newNotFound()
	}
	ask.limit = 1
	return ask, nil
}

// parseQuery reads the parameters of a list. Unknown ones are ignored.
func parseQuery(q url.Values) (request, error) {
	ask := request{search: strings.TrimSpace(q.Get("search")), version: q.Get("version"), limit: defaultPage}
	if err := ask.readCursor(q.Get("cursor")); err != nil {
		return request{}, err
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return request{}, fault.Errorf(fault.Malformed, "limit must be a number from 1 to %d.", maxPage)
		}
		ask.limit = min(n, maxPage)
	}
	if text := q.Get("updated_since"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return request{}, fault.Errorf(fault.Malformed, "updated_since must be a time like 2026-01-31T12:00:00Z.")
		}
		ask.since = &at
	}
	return ask, nil
}

// readCursor reads a cursor: the slug of the last entry and, after a dot, the search in Base64. VS Code sends the
// cursor of a search without the search, and unescaped.
func (ask *request) readCursor(cursor string) error {
	slug, search, _ := strings.Cut(cursor, ".")
	text, err := base64.RawURLEncoding.DecodeString(search)
	if err != nil || len(slug) > maxCursorSlug {
		return fault.Errorf(fault.Malformed, "Unknown cursor.")
	}
	ask.after = slug
	if ask.search == "" {
		ask.search = string(text)
	}
	return nil
}

// cursorAfter returns the cursor of the page after an entry.
func (ask *request) cursorAfter(slug string) string {
	if ask.search == "" {
		return slug
	}
	return slug + "." + base64.RawURLEncoding.EncodeToString([]byte(ask.search))
}

// isMatch reports whether an entry has the version asked for.
func (ask *request) isMatch(e entryDocument) bool {
	return ask.version == "" || ask.version == latest || ask.version == e.Server.Version
}

func newNotFound() error { return fault.Errorf(fault.NotFound, "Not found") }
