package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"patchbay/internal/apiserver"
	"patchbay/internal/mcp"
)

// Three pages with two items each. A bound of three reads all of them, a bound of two leaves one out.
func TestPages_AreFollowedUpToTheirBound(t *testing.T) {
	t.Parallel()
	const pages = 3
	for name, tc := range map[string]struct {
		settings string // of the binding's pages, without its bound
		answer   func(w http.ResponseWriter, r *http.Request, page int)
		page     func(r *http.Request) int
		asked    string // the queries
	}{
		"Link": {
			`"kind":"link"`,
			func(w http.ResponseWriter, r *http.Request, page int) {
				if page < pages {
					w.Header().Set("Link", fmt.Sprintf(`<http://%s/v2/notes?p=%d>; rel="next", <http://%[1]s/v2/notes?p=%[3]d>; rel="last"`, r.Host, page+1, pages))
				}
				writeItems(w, `[%d,%d]`, page)
			},
			func(r *http.Request) int { return pageNumber(r, "p", 1) },
			"size=2 p=2 p=3",
		},
		"cursor": {
			`"kind":"cursor","argument":"cursor","next":"/meta/next","items":"/notes"`,
			func(w http.ResponseWriter, _ *http.Request, page int) {
				next := "null"
				if page < pages {
					next = strconv.Itoa(page + 1)
				}
				writeItems(w, `{"total":6,"notes":[%d,%d],"meta":{"next":`+next+`}}`, page)
			},
			func(r *http.Request) int { return pageNumber(r, "cursor", 1) },
			"size=2 size=2&cursor=2 size=2&cursor=3",
		},
		"page number": {
			`"kind":"page","argument":"page","first":1,"items":"/notes"`,
			func(w http.ResponseWriter, _ *http.Request, page int) {
				if page > pages {
					_, _ = w.Write([]byte(`{"notes":[]}`))
					return
				}
				writeItems(w, `{"total":6,"notes":[%d,%d]}`, page)
			},
			func(r *http.Request) int { return pageNumber(r, "page", 1) },
			"size=2 size=2&page=2 size=2&page=3 size=2&page=4",
		},
		"offset": {
			`"kind":"offset","argument":"offset","items":"/notes"`,
			func(w http.ResponseWriter, _ *http.Request, page int) {
				if page > pages {
					_, _ = w.Write([]byte(`{"notes":[]}`))
					return
				}
				writeItems(w, `{"total":6,"notes":[%d,%d]}`, page)
			},
			func(r *http.Request) int { return pageNumber(r, "offset", 0)/2 + 1 },
			"size=2 size=2&offset=2 size=2&offset=4 size=2&offset=6",
		},
	} {
		var asked []string
		session, bindings := openSession(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != "/v2/notes" {
				t.Errorf("%s: %s with %q", name, r.URL, r.Header.Get("Authorization"))
			}
			asked = append(asked, r.URL.RawQuery)
			w.Header().Set("Content-Type", "application/json")
			tc.answer(w, r, tc.page(r))
		})
		for max, want := range map[int]struct{ items, note string }{
			pages + 1: {"[1,2,3,4,5,6]", ""},
			pages - 1: {"[1,2,3,4]", "There are more pages."},
		} {
			asked = nil
			binding := listBinding(t, bindings["getNote"], fmt.Sprintf(`{%s,"max":%d}`, tc.settings, max))
			got, err := session.Call(t.Context(), mcp.Call{Name: "listNotes", Arguments: json.RawMessage(`{"size":2}`), Meta: binding})
			if err != nil {
				t.Errorf("%s, at most %d: %v", name, max, err)
				continue
			}
			queries := strings.Fields(tc.asked)
			if want := strings.Join(queries[:min(max, len(queries))], " "); strings.Join(asked, " ") != want {
				t.Errorf("%s, at most %d: asked %q, want %s", name, max, asked, want)
			}
			var content []struct{ Text string }
			if err := json.Unmarshal(got.Content, &content); err != nil || got.IsError {
				t.Fatalf("%s: %s, %v", name, got.Content, err)
			}
			note := ""
			if len(content) > 1 {
				note = content[1].Text
			}
			if !strings.Contains(content[0].Text, want.items) || note != want.note || len(content) > 2 {
				t.Errorf("%s, at most %d: the answer is %s", name, max, got.Content)
			}
			if !strings.Contains(string(got.Structured), want.items) || strings.HasPrefix(tc.settings, `"kind":"cursor"`) && !strings.Contains(string(got.Structured), `"total":6`) {
				t.Errorf("%s, at most %d: the structured answer is %s", name, max, got.Structured)
			}
		}
	}
}

// listBinding returns the _meta of a list of notes, from that of getNote.
func listBinding(t *testing.T, meta json.RawMessage, pages string) json.RawMessage {
	t.Helper()
	var members map[string]map[string]any
	if err := json.Unmarshal(meta, &members); err != nil || len(members) != 1 {
		t.Fatalf("%s: %v", meta, err)
	}
	for _, binding := range members {
		delete(binding, "security")
		binding["path"], binding["pages"], binding["result"] = "/notes", json.RawMessage(pages), "object"
		if !strings.Contains(pages, "items") {
			binding["result"] = "wrapped"
		}
		var parameters []map[string]any
		for _, name := range []string{"size", "cursor", "page", "offset"} {
			parameters = append(parameters, map[string]any{"argument": name, "name": name, "in": "query", "style": "form", "explode": true})
		}
		binding["parameters"] = parameters
		text, err := json.Marshal(binding)
		if err != nil {
			t.Fatal(err)
		}
		return apiserver.CallMeta(text)
	}
	return nil
}

func writeItems(w http.ResponseWriter, format string, page int) {
	fmt.Fprintf(w, format, 2*page-1, 2*page)
}

func pageNumber(r *http.Request, parameter string, first int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(parameter))
	if err != nil {
		return first
	}
	return n
}
