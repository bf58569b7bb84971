package authserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

func (w *town) get(t *testing.T, path string) []byte {
	t.Helper()
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, baseURL+path, nil))
	return rec.Body.Bytes()
}

func toTexts(list any) (all []string) {
	items, _ := list.([]any)
	for _, v := range items {
		all = append(all, fmt.Sprint(v))
	}
	return all
}

func TestKeys_RotateWhileJWTsAreVerified(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	w := c.workload(subject)
	c.publish(public("ec", ecKey().Public()))
	next := func() string { return signed(t, jose.ES256, otherKey(), "next", c.facts(nil)) }
	if r := c.exchange(w, c.valid()); r.Status != http.StatusOK {
		t.Fatalf("%+v", r)
	}
	if r := c.exchange(w, next()); r.text("error") != "invalid_grant" || c.reads.Load() != 1 {
		t.Errorf("a key that is not published, %d reads: %+v", c.reads.Load(), r)
	}
	c.publish(public("ec", ecKey().Public()), public("next", otherKey().Public()))
	c.later(61 * time.Second)
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			jwt := c.valid()
			if i%2 == 0 {
				jwt = next()
			}
			if r := c.exchange(w, jwt); r.Status != http.StatusOK {
				t.Errorf("while keys rotate: %+v", r)
			}
		})
	}
	all.Wait()
	if n := c.reads.Load(); n != 2 {
		t.Errorf("the keys were read %d times for one new key", n)
	}
	c.publish(public("next", otherKey().Public()))
	c.later(5 * time.Minute)
	if r := c.exchange(w, c.valid()); r.text("error") != "invalid_grant" {
		t.Errorf("a key that its issuer removed: %+v", r)
	}
	if r := c.exchange(w, next()); r.Status != http.StatusOK {
		t.Errorf("%+v", r)
	}
}

func TestKeys_IssuerFails(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	w := c.workload(subject)
	if r := c.exchange(w, c.valid()); r.Status != http.StatusOK {
		t.Fatalf("%+v", r)
	}
	c.down.Store(true)
	c.later(4 * time.Minute)
	if r := c.exchange(w, signed(t, jose.ES256, otherKey(), "next", c.facts(nil))); r.Status != http.StatusServiceUnavailable || r.text("error") != "temporarily_unavailable" {
		t.Errorf("an unknown key: %+v", r)
	}
	if r := c.exchange(w, c.valid()); r.Status != http.StatusOK {
		t.Errorf("a key that was read four minutes ago: %+v", r)
	}
	c.later(2 * time.Minute)
	if r := c.exchange(w, c.valid()); r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
		t.Errorf("keys of six minutes ago: %+v", r)
	}
	c.wantTokens("down", 2, 2)
	c.down.Store(false)
	foreign := "https://elsewhere.example.com"
	c.claims.Store(&foreign)
	c.later(20 * time.Second)
	if r := c.exchange(w, c.valid()); r.Status != http.StatusServiceUnavailable {
		t.Errorf("metadata of another issuer: %+v", r)
	}
	c.claims.Store(&c.site.URL)
	c.later(20 * time.Second)
	if r := c.exchange(w, c.valid()); r.Status != http.StatusOK {
		t.Errorf("up again: %+v", r)
	}
	big := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`"` + strings.Repeat("x", 256<<10) + `"`))
	})
	c.page.Store(&big)
	c.later(6 * time.Minute)
	if r := c.exchange(w, c.valid()); r.Status != http.StatusServiceUnavailable {
		t.Errorf("a long document: %+v", r)
	}
}

func TestKeys_OwnNeedNoRequest(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public("ec", ecKey().Public())}})
	if err != nil {
		t.Fatal(err)
	}
	const inside = "https://kubernetes.default.svc.cluster.local"
	w := c.workloadOf(c.ada, c.agent, connectors.Workload{Name: "pod", Issuer: inside, Subject: "system:serviceaccount:prod:bot", Keys: keys})
	facts := map[string]any{"iss": inside, "sub": "system:serviceaccount:prod:bot"}
	if r := c.exchange(w, signed(t, jose.ES256, ecKey(), "ec", c.facts(facts))); r.Status != http.StatusOK || c.reads.Load() != 0 {
		t.Errorf("%d reads, %+v", c.reads.Load(), r)
	}
	if r := c.exchange(w, signed(t, jose.ES256, otherKey(), "next", c.facts(facts))); r.text("error") != "invalid_grant" {
		t.Errorf("%+v", r)
	}
}

func TestAddWorkload_RefusesWhatIsUnsafe(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	private, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{KeyID: "ec", Key: ecKey()}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*connectors.Workload){
		"no name":           func(w *connectors.Workload) { w.Name = " " },
		"no subject":        func(w *connectors.Workload) { w.Subject = "" },
		"a long subject":    func(w *connectors.Workload) { w.Subject = strings.Repeat("x", 501) },
		"no URL":            func(w *connectors.Workload) { w.Issuer = "kubernetes" },
		"a private address": func(w *connectors.Workload) { w.Issuer = "https://10.0.0.1" },
		"an internal name":  func(w *connectors.Workload) { w.Issuer = "https://kubernetes.default.svc.cluster.local" },
		"no TLS":            func(w *connectors.Workload) { w.Issuer = "http://issuer.example.com" },
		"a query":           func(w *connectors.Workload) { w.Issuer += "?x" },
		"no keys":           func(w *connectors.Workload) { w.Keys = json.RawMessage(`{"keys":[]}`) },
		"a private key":     func(w *connectors.Workload) { w.Keys = private },
		"a shared secret":   func(w *connectors.Workload) { w.Keys = json.RawMessage(`{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}`) },
		"an unreadable key": func(w *connectors.Workload) { w.Keys = json.RawMessage(`{"keys":[{"kty":"RSA"}]}`) },
		"more than 20 keys": func(w *connectors.Workload) {
			w.Keys = json.RawMessage(`{"keys":[` + strings.Repeat(`{},`, 20) + `{}]}`)
		},
		"more than 64 KiB": func(w *connectors.Workload) {
			w.Keys = json.RawMessage(`{"keys":[],"x":"` + strings.Repeat("x", 64<<10) + `"}`)
		},
	} {
		w := connectors.Workload{Name: "deploy", Issuer: c.site.URL, Subject: subject}
		change(&w)
		if _, err := c.programs.AddWorkload(t.Context(), c.ada, connectors.Ref(c.agent.Slug), w); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var all sync.WaitGroup
	for i := range connectors.MaxWorkloads + 5 {
		all.Go(func() {
			_, _ = c.programs.AddWorkload(t.Context(), c.ada, connectors.Ref(c.agent.Slug), connectors.Workload{Name: "w", Issuer: c.site.URL, Subject: fmt.Sprint(i)})
		})
	}
	all.Wait()
	list, err := c.programs.Workloads(t.Context(), c.ada, connectors.Ref(c.agent.Slug))
	if err != nil || len(list) != connectors.MaxWorkloads {
		t.Errorf("%d workloads of 25 at once, %v", len(list), err)
	}
	if _, err := c.programs.AddWorkload(t.Context(), c.ada, connectors.Ref(c.agent.Slug), connectors.Workload{Name: "more", Issuer: c.site.URL, Subject: "more"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("one more: %v", err)
	}
}

func TestWorkload_ExchangesAreLimited(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	w := c.workload(subject)
	for range 70 {
		if r := c.exchange(w, "x"); r.Status != http.StatusBadRequest { // a wrong JWT takes nothing of the workload's rate
			t.Fatalf("%+v", r)
		}
	}
	for range 60 {
		if r := c.exchange(w, c.valid()); r.Status != http.StatusOK {
			t.Fatalf("%+v", r)
		}
	}
	r := c.exchange(w, c.valid())
	for n := 0; r.Status == http.StatusOK && n < 200; n++ { // one a second is allowed meanwhile
		r = c.exchange(w, c.valid())
	}
	if r.Status != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
		t.Errorf("%+v", r)
	}
	c.later(2 * time.Second)
	if r := c.exchange(w, c.valid()); r.Status != http.StatusOK {
		t.Errorf("later: %+v", r)
	}
}
