package htmlcheck

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Leads reports every link, form and htmx request of ours that none of the routes would answer. The routes are patterns
// of [http.ServeMux], with their method: "GET /connectors/{id}".
func (p *Page) Leads(tb testing.TB, routes ...string) {
	tb.Helper()
	mux := http.NewServeMux()
	for _, route := range routes {
		mux.HandleFunc(route, func(http.ResponseWriter, *http.Request) {})
	}
	for _, step := range p.steps() {
		_, pattern := mux.Handler(httptest.NewRequest(step.method, step.to, nil))
		if pattern == "" {
			tb.Errorf("%s: no route answers %s %s", step.from, step.method, step.to)
		}
	}
}

type step struct{ from, method, to string }

// steps are the ways out of the page that stay with us.
func (p *Page) steps() []step {
	var steps []step
	for _, n := range p.all {
		add := func(method, to string) {
			to, _, _ = strings.Cut(to, "#") // the browser's own
			if strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") {
				steps = append(steps, step{from: outline(n), method: method, to: to})
			}
		}
		for _, a := range n.Attr {
			switch a.Key {
			case "href", "src":
				if n.Data != "use" {
					add(http.MethodGet, a.Val)
				}
			case "action":
				add(formMethod(Element{n}), a.Val)
			case "formaction":
				add(http.MethodPost, a.Val)
			case "hx-get", "hx-sse:connect":
				add(http.MethodGet, a.Val)
			case "hx-post":
				add(http.MethodPost, a.Val)
			}
		}
	}
	return steps
}

func formMethod(form Element) string {
	if strings.EqualFold(form.Attr("method"), http.MethodPost) {
		return http.MethodPost
	}
	return http.MethodGet
}
