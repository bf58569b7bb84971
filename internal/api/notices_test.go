package api_test

import (
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func (w *world) createNotice(t *testing.T, tenant connectors.TenantID, title string) {
	t.Helper()
	n := store.NewNotice{Kind: connectors.NoticeDown, Title: title, Body: "Its server does not answer.", Link: "/connectors", Key: title}
	if err := w.St.Tenant(tenant).People().AddNotice(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

func TestNoticesAreReadByThePersonWhoSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader, other := w.signIn(t, w.Member(t, connectors.RoleViewer).UserID), w.signIn(t, w.Member(t, connectors.RoleOwner).UserID)
	for _, title := range []string{"Linear is down", "Notes is down", "Sentry is down"} {
		w.createNotice(t, w.Tenant, title)
	}
	list := func(cookie *http.Cookie) []map[string]any {
		t.Helper()
		return listItems(w.callInSession(t, cookie, http.MethodGet, "/api/v1/notices", nil).want(http.StatusOK))
	}
	read := func(body any) any {
		t.Helper()
		return w.callInSession(t, reader, http.MethodPost, "/api/v1/notices/read", body).want(http.StatusOK)["read"]
	}
	newest := list(reader)[0]
	if newest["title"] != "Sentry is down" || newest["read"] != false || newest["kind"] != "connector.down" {
		t.Fatalf("the newest is %v", newest)
	}
	one := map[string]any{"ids": []any{newest["id"]}}
	if n, again := read(one), read(one); n != 1.0 || again != 0.0 {
		t.Errorf("one is new %v times, then %v", n, again)
	}
	if now := list(reader); now[0]["read"] != true || now[1]["read"] != false {
		t.Errorf("after one: %v", now)
	}
	if n := read(nil); n != 2.0 {
		t.Errorf("of all, %v were new", n)
	}
	for _, n := range list(other) {
		if n["read"] != false {
			t.Errorf("read by somebody else: %v", n)
		}
	}
}

func TestNotices_ReadIsRefusedToKeysAndOtherTenants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createNotice(t, w.Other, "Theirs is down")
	theirs, err := w.St.Tenant(w.Other).People().Notices(t.Context(), nil, store.Page{})
	if err != nil || len(theirs.Items) != 1 {
		t.Fatal(theirs, err)
	}
	const path = "/api/v1/notices/read"
	key := w.createKey(t, connectors.RoleOwner)
	w.call(t, key, http.MethodPost, path, nil).problem(http.StatusConflict, "conflict")
	reader := w.signIn(t, w.Member(t, connectors.RoleViewer).UserID)
	answer := w.callInSession(t, reader, http.MethodPost, path, map[string]any{"ids": []any{theirs.Items[0].ID.String()}}).want(http.StatusOK)
	if answer["read"] != 0.0 {
		t.Errorf("another tenant's notice is read: %v", answer)
	}
	w.callInSession(t, reader, http.MethodPost, path, map[string]any{"ids": []any{"nonsense"}}).problem(http.StatusUnprocessableEntity, "invalid")
	w.createNotice(t, w.Tenant, "Ours is down")
	for _, n := range listItems(w.call(t, key, http.MethodGet, "/api/v1/notices", nil).want(http.StatusOK)) {
		if n["read"] != nil {
			t.Errorf("a key has read: %v", n)
		}
	}
}
