package shell

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"patchbay/internal/store"
	"patchbay/web/templates"
)

// YearInSeconds is the lifetime of cookies that hold a preference.
const YearInSeconds = 365 * 24 * 60 * 60

// pageSizes are the sizes of a list's page, in rows. The chosen one is in the address, and in a cookie for all
// lists.
var pageSizes = []int{25, 50, 100, 200}

// resizablePages are the pages with lists of the chosen size. Others have fewer rows, because a row is large.
var resizablePages = []string{
	"/connectors", "/connectors/{id}/tools", "/connectors/{id}/prompts", "/connectors/{id}/resources", "/connectors/{id}/runs", "/connectors/{id}/access", "/connectors/{id}/calls", "/connectors/{id}/changes",
	"/connectors/{id}/credentials", "/connectors/{id}/credentials/missing", "/tools", "/agents", "/calls", "/tasks", "/changes",
	"/audit", "/webhooks", "/registries", "/members", "/api-keys",
}

const sizeCookie = "page_size"

// ReadPage reads the cursor and size of a list.
func ReadPage(r *http.Request) store.Page {
	query := r.URL.Query()
	return store.Page{Limit: PageSize(r), Cursor: query.Get(cursorParam), Order: ReadOrder(query)}
}

// PageSize is the number of rows per page that a request asks for, or its cookie.
func PageSize(r *http.Request) int {
	if n := parseSize(r.URL.Query().Get("size")); n != 0 {
		return n
	}
	if cookie, err := r.Cookie(sizeCookie); err == nil {
		if n := parseSize(cookie.Value); n != 0 {
			return n
		}
	}
	return store.DefaultLimit
}

// parseSize parses a size; 0 if it is not in pageSizes.
func parseSize(text string) int {
	if n, err := strconv.Atoi(text); err == nil && slices.Contains(pageSizes, n) {
		return n
	}
	return 0
}

// RememberSize sets the cookie when an address chooses a size.
func (h *Shell) RememberSize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if chosen := r.URL.Query().Get("size"); parseSize(chosen) != 0 {
			http.SetCookie(w, &http.Cookie{
				Name: sizeCookie, Value: chosen, Path: "/", MaxAge: YearInSeconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: h.auth.Sessions().Cookie.Secure,
			})
		}
		next.ServeHTTP(w, r)
	})
}

// sizeLinks lead to the first page in other sizes. A list that fits on the smallest page needs none.
func sizeLinks(path string, query url.Values, size int, more bool) []templates.PageSize {
	if !more && size == store.DefaultLimit {
		return nil
	}
	var links []templates.PageSize
	for _, n := range pageSizes {
		q := FirstPage(query)
		q.Set("size", strconv.Itoa(n))
		links = append(links, templates.PageSize{Rows: strconv.Itoa(n), Href: WithQuery(path, q), Current: n == size})
	}
	return links
}
