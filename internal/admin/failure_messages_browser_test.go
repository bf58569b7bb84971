//go:build e2e

package admin_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/connectors"
	chromium "patchbay/internal/testing/browser"
)

func TestEvents_DisconnectAndReconnectAreShown(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.Connector(t)
	tab := d.openSignedInTab(connectors.RoleViewer)
	tab.Go(d.base + "/connectors")
	tab.WaitText(`#connection[data-state=""]`, "") // the stream is open, so messages after this line are about what happens here
	// The message must come with the event: some messages disappear again.
	after := func(event, want string) {
		t.Helper()
		have := chromium.Eval[string](tab, `(() => {
			const detail = {connection: {attempt: 1}};
			document.querySelector("[hx-sse\\:connect]").dispatchEvent(new CustomEvent("`+event+`", {bubbles: true, detail}));
			return document.querySelector("#connection[role=status]").textContent;
		})()`)
		if !strings.Contains(have, want) {
			t.Errorf("after %s: %q", event, have)
		}
	}
	after("htmx:sse:error", "Connection lost")
	checkAppearanceOf(t, tab, "connection-lost")
	after("htmx:sse:after:connection", "Reconnected")
	after("htmx:response:error", "This page isn't updating.")
}

// TestButton_IsEnabledAgainAfterFailure has a server that fails a script's request, and then is down.
func TestButton_IsEnabledAgainAfterFailure(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t)
	var broken atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() && strings.HasSuffix(r.URL.Path, "/sync_tools") {
			panic(http.ErrAbortHandler) // the connection ends without a response
		}
		d.serve(w, r)
	}))
	t.Cleanup(front.Close)
	tab := d.openSignedInTab(connectors.RoleMember)
	tab.Go(d.base + "/connectors/" + c.Slug)
	button := "#sync-" + c.ID.String() + " button"

	d.AsOwner(t, "revoke insert, update on sync_runs from patchbay_app")
	tab.Click(button)
	tab.WaitText("#alert", "Something went wrong on our side.")
	tab.Forgive("500")
	tab.WaitText(button+":enabled", "Sync")
	if kept := chromium.Eval[int](tab, `JSON.parse(sessionStorage.getItem("messages")).length`); kept != 1 {
		t.Errorf("%d messages to be read again", kept)
	}

	tab.Go(front.URL + "/connectors/" + c.Slug)
	broken.Store(true)
	tab.Click(button)
	tab.WaitText("#alert", "Patchbay can't be reached")
	tab.WaitText(button+":enabled", "Sync")
	tab.Forgive("ERR_EMPTY_RESPONSE")
	tab.Forgive("Failed to fetch")
}
