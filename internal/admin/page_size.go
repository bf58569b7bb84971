package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"patchbay/internal/store"
	"patchbay/web/templates"
)

// pageSizes are how many rows a page of a list may have. Which one a person chose stands in the address, and is remembered by the browser
// for all lists.
var pageSizes = []int{25, 50, 100, 200}

// ofAnySize are the pages whose lists have the size that a person chose. Others show less at once than most of these: whole calls that wait, say.
var ofAnySize = []string{
	"/connectors", "/connectors/{id}/tools", "/connectors/{id}/runs", "/connectors/{id}/credentials", "/tools", "/agents", "/calls", "/tasks", "/changes",
	"/audit", "/webhooks", "/members", "/api-keys",
}

const sizeCookie = "page_size"

// pageOf is which part of a list a request asks for.
func pageOf(r *http.Request) store.Page {
	query := r.URL.Query()
	return store.Page{Limit: pageSize(r), Cursor: query.Get("cursor"), Order: readOrder(query)}
}

func pageSize(r *http.Request) int {
	if n := knownSize(r.URL.Query().Get("size")); n != 0 {
		return n
	}
	if cookie, err := r.Cookie(sizeCookie); err == nil {
		if n := knownSize(cookie.Value); n != 0 {
			return n
		}
	}
	return store.DefaultLimit
}

// knownSize reads a size; 0: it is none of ours.
func knownSize(text string) int {
	if n, err := strconv.Atoi(text); err == nil && slices.Contains(pageSizes, n) {
		return n
	}
	return 0
}

// rememberSize has the browser remember the size of pages that an address chooses.
func (h *Handler) rememberSize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if chosen := r.URL.Query().Get("size"); knownSize(chosen) != 0 {
			http.SetCookie(w, &http.Cookie{
				Name: sizeCookie, Value: chosen, Path: "/", MaxAge: yearInSeconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: h.auth.Sessions().Cookie.Secure,
			})
		}
		next.ServeHTTP(w, r)
	})
}

// sizeLinks lead to the first page of a list in other sizes. A list that fits on the smallest needs none.
func sizeLinks(path string, query url.Values, size int, more bool) []templates.PageSize {
	if !more && size == store.DefaultLimit {
		return nil
	}
	var links []templates.PageSize
	for _, n := range pageSizes {
		q := url.Values{}
		for name, values := range query {
			if name != "cursor" {
				q[name] = values
			}
		}
		q.Set("size", strconv.Itoa(n))
		links = append(links, templates.PageSize{Rows: strconv.Itoa(n), Href: withQuery(path, q), Current: n == size})
	}
	return links
}
