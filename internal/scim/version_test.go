package scim_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// sendIf sends a request with a precondition.
func (d *directory) sendIf(t testing.TB, header, version, method, path, body string) answer {
	t.Helper()
	conditional := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set(header, version)
		d.handler.ServeHTTP(w, r)
	})
	return sendTo(t, conditional, d.token, method, d.fillIDs(path), d.fillIDs(body))
}

// version returns the version of a resource, which its header and its body have.
func (d *directory) version(t testing.TB, path string) string {
	t.Helper()
	got := d.send(t, http.MethodGet, d.fillIDs(path), "")
	version := got.header.Get("ETag")
	if version == "" || got.at("meta/version") != version || version[:3] != `W/"` {
		t.Fatalf("%s: ETag %q, meta.version %v", path, version, got.at("meta/version"))
	}
	return version
}

func TestVersion_RefusesAnOutdatedChange(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.addUser(t, "user", "kim@example.com")
	d.addUser(t, "other", "lee@example.com")
	d.runSteps(t, []step{
		{name: "a group", do: "POST /Groups", body: `{"schemas":["` + coreGroup + `"],"displayName":"Staff","members":[{"value":"{user}"}]}`, status: 201, keep: "group"},
		{name: "versions are announced", do: "GET /ServiceProviderConfig", status: 200, want: map[string]any{"etag/supported": true}},
	})
	patch := func(path, value string) string {
		return `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"replace","path":"` + path + `","value":` + value + `}]}`
	}
	for path, change := range map[string]string{"/Users/{user}": patch("title", `"Dr."`), "/Groups/{group}": patch("members", `[{"value":"{other}"}]`)} {
		first := d.version(t, path)
		if got := d.sendIf(t, "If-None-Match", first, http.MethodGet, path, ""); got.status != http.StatusNotModified || got.text != "" {
			t.Errorf("%s: what the client has: %d %s", path, got.status, got.text)
		}
		got := d.sendIf(t, "If-Match", `"other", `+first, http.MethodPatch, path, change)
		if got.status >= 300 {
			t.Fatalf("%s: the current version: %d %s", path, got.status, got.text)
		}
		second := d.version(t, path)
		if said := got.header.Get("ETag"); second == first || said != second && got.status != http.StatusNoContent {
			t.Errorf("%s: versions %s, then %s, and %q in the change's response", path, first, second, said)
		}
		for _, method := range []string{http.MethodPatch, http.MethodDelete} {
			got := d.sendIf(t, "If-Match", first, method, path, change)
			if got.status != http.StatusPreconditionFailed || got.at("schemas/0") != "urn:ietf:params:scim:api:messages:2.0:Error" {
				t.Errorf("%s %s: an old version: %d %s", method, path, got.status, got.text)
			}
		}
		if now := d.version(t, path); now != second {
			t.Errorf("%s: a refused change made %s of %s", path, now, second)
		}
		if got := d.sendIf(t, "If-None-Match", first, http.MethodGet, path, ""); got.status != http.StatusOK {
			t.Errorf("%s: a new version: %d", path, got.status)
		}
		if got := d.sendIf(t, "If-Match", "*", http.MethodDelete, path, ""); got.status != http.StatusNoContent {
			t.Errorf("%s: any version: %d %s", path, got.status, got.text)
		}
	}
}

// A group's version changes with its members, also if one of them is deleted.
func TestVersion_OfGroupHasItsMembers(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.addUser(t, "user", "kim@example.com")
	d.runSteps(t, []step{{name: "a group", do: "POST /Groups", body: `{"schemas":["` + coreGroup + `"],"displayName":"Staff","members":[{"value":"{user}"}]}`, status: 201, keep: "group"}})
	before := d.version(t, "/Groups/{group}")
	d.runSteps(t, []step{
		{name: "delete the member", do: "DELETE /Users/{user}", status: 204},
		{name: "no version without members", do: "GET /Groups/{group}?excludedAttributes=members", status: 200, want: map[string]any{"meta/version": nil}},
	})
	if after := d.version(t, "/Groups/{group}"); after == before {
		t.Error("the version stayed")
	}
}

// The version in the response to a change is that of the stored resource, which may differ from what was sent.
func TestVersion_OfAChangeIsOfWhatIsStored(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.addUser(t, "user", "kim@example.com")
	d.runSteps(t, []step{{name: "a group", do: "POST /Groups", body: `{"schemas":["` + coreGroup + `"],"displayName":"Staff"}`, status: 201, keep: "group"}})
	for path, body := range map[string]string{
		"/Users/{user}":   `{"schemas":["` + coreUser + `"],"userName":"kim@example.com","title":"D\u0000r.","emails":[{"value":"Kim@Example.com","primary":true}]}`,
		"/Groups/{group}": `{"schemas":["` + coreGroup + `"],"displayName":"St\u0000aff","members":[{"value":"{user}"},{"value":"{user}"}]}`,
	} {
		got := d.send(t, http.MethodPut, d.fillIDs(path), d.fillIDs(body))
		if got.status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, got.status, got.text)
		}
		if said, now := got.header.Get("ETag"), d.version(t, path); said != now {
			t.Errorf("%s: version %s in the response, then %s", path, said, now)
		}
	}
}

// Of concurrent changes, the last that is stored has the version that is read afterwards, and each has a version of its own.
func TestVersion_OfConcurrentChanges(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.addUser(t, "user", "kim@example.com")
	versions := make([]string, 6)
	var senders sync.WaitGroup
	path := d.fillIDs("/Users/{user}")
	for i := range versions {
		body := fmt.Sprintf(`{"schemas":["%s"],"userName":"kim@example.com","title":"Title %d","emails":[{"value":"kim@example.com"}]}`, coreUser, i)
		senders.Go(func() {
			got := d.send(t, http.MethodPut, path, body)
			if got.status != http.StatusOK {
				t.Errorf("change %d: %d %s", i, got.status, got.text)
			}
			versions[i] = got.header.Get("ETag")
		})
	}
	senders.Wait()
	now, seen, last := d.version(t, path), map[string]bool{}, false
	for _, v := range versions {
		if v == "" || seen[v] {
			t.Errorf("version %q of two changes, or none", v)
		}
		seen[v], last = true, last || v == now
	}
	if !last {
		t.Errorf("%s is of no change: %v", now, versions)
	}
}
