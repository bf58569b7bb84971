package settings

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"testing"

	callpages "patchbay/internal/admin/calls"
	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/store"
)

// FuzzAddresses: a list's query is read as its own links write it, the links stay on the page, and a day is one
// day.
func FuzzAddresses(f *testing.F) {
	for _, query := range []string{
		"agent=a&connector=b&tool=%20x%20&status=error&size=25", "connector=a&state=all&cursor=WyJh", "sort=-tools&sort=name&cursor=x", "sort=--", "since=2026-01-31&until=9999-12-31&entry=x",
		"since=2026-02-30", "until=0000-01-01", "q=%ff%00&effect=destructive&provider=google&sort=size&days=7", "size=1e2&days=030", "%zz=1;a=b", "status=&status=error", "q=//evil.example",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r := httptest.NewRequest(http.MethodGet, "/connectors", nil)
		r.URL.RawQuery = raw
		q := r.URL.Query()
		if calls := callpages.ReadCallQuery(q); callpages.ReadCallQuery(calls.URLValues()) != calls || calls.IsFiltered() != (len(calls.URLValues()) > 0) {
			t.Errorf("%q is %+v, and its links lead to %+v", raw, calls, callpages.ReadCallQuery(calls.URLValues()))
		}
		if changes := toolpages.ReadChangeQuery(q); toolpages.ReadChangeQuery(changes.URLValues()) != changes || changes.IsFiltered() != (len(changes.URLValues()) > 0) {
			t.Errorf("%q is %+v, and its links lead to %+v", raw, changes, toolpages.ReadChangeQuery(changes.URLValues()))
		}
		tools := toolpages.ReadToolFilter(q)
		if form := tools.ToForm().Values; toolpages.ReadToolFilter(url.Values{"q": {form["q"]}, "effect": {form["effect"]}}) != tools {
			t.Errorf("%q is the filter %+v, and its form is %v", raw, tools, form)
		}
		audited, ok := readAuditQuery(q).toFilter("")
		if since, until := audited.Since, audited.Until; ok && since != nil && until != nil && readAuditQuery(q).since == readAuditQuery(q).until && !until.Equal(since.AddDate(0, 0, 1)) {
			t.Errorf("%q is the day from %s to %s", raw, since, until)
		}
		if n := shell.ReadPage(r).Limit; n < 1 || n > store.MaxLimit {
			t.Errorf("%q asks for %d rows", raw, n)
		}
		for by, head := range shell.NewHeads(r, connectorpages.ConnectorOrder) {
			at, err := r.URL.Parse(head.Href)
			if err != nil || at.Path != "/connectors" || at.Host != r.URL.Host || at.Query().Has("cursor") {
				t.Fatalf("%q leads to %q: %v", raw, head.Href, err)
			}
			if order := shell.ReadOrder(at.Query()); order != (store.SortOrder{}) && order.By != by || order == (store.SortOrder{}) && by != "name" {
				t.Errorf("%q leads to %q for %q", raw, head.Href, by)
			}
			rest, was := at.Query(), r.URL.Query()
			for _, name := range []string{"sort", "cursor"} {
				rest.Del(name)
				was.Del(name)
			}
			if !reflect.DeepEqual(rest, was) {
				t.Errorf("%q leads to %q", raw, head.Href)
			}
		}
	})
}
