package publicregistry_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	chimiddleware "github.com/go-chi/chi/v5/middleware"
	"github.com/google/jsonschema-go/jsonschema"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/middleware"
	"patchbay/internal/publicregistry"
	"patchbay/internal/secret"
	"patchbay/internal/testing/fixture"
)

const (
	baseURL   = "https://patchbay.example.com"
	namespace = "com.example.patchbay/"
)

// registryTest is a world with a service of registries.
type registryTest struct {
	*fixture.World
	service *publicregistry.Service
	handler http.Handler
	admin   auth.Actor
	log     *bytes.Buffer
}

func newRegistryTest(t testing.TB) *registryTest {
	t.Helper()
	w := &registryTest{World: fixture.New(t), log: &bytes.Buffer{}}
	base, err := url.Parse(baseURL)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.service = publicregistry.New(publicregistry.Options{Store: w.St, BaseURL: base, Log: log})
	r := chi.NewRouter()
	r.Use(middleware.Chain(middleware.Options{BaseURL: base, Log: log, Refuse: w.service.WriteError})...)
	r.Use(chimiddleware.GetHead)
	w.service.Mount(r)
	w.handler = r
	w.admin = w.actor(t, w.Tenant)
	return w
}

func (w *registryTest) actor(t testing.TB, tenant connectors.TenantID) auth.Actor {
	t.Helper()
	self, err := w.St.Tenant(tenant).Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return auth.Actor{Kind: auth.KindPerson, Tenant: self, Role: connectors.RoleAdmin, Name: "Ann"}
}

// publish creates a registry and returns it with the path of its address.
func (w *registryTest) publish(t testing.TB, r connectors.Registry) (made connectors.Registry, path string) {
	t.Helper()
	r.Name = "Team"
	made, text, err := w.service.Create(t.Context(), w.admin, r)
	if err != nil {
		t.Fatal(err)
	}
	return made, pathOf(t, text)
}

func pathOf(t testing.TB, text secret.Text) string {
	t.Helper()
	path, ok := strings.CutPrefix(text.Reveal(), baseURL)
	if !ok || len(path) < len("/registry/")+32 {
		t.Fatalf("the address is %s", text.Reveal())
	}
	return path
}

// connector creates a connector with accepted tools.
func (w *registryTest) connector(t testing.TB, slug string, tools ...string) connectors.Connector {
	t.Helper()
	c := w.Connector(t, func(d *connectors.Draft) {
		d.Slug, d.Name, d.Description = slug, "The "+slug, "Reads "+slug+"."
	})
	if len(tools) > 0 {
		w.Synced(t, c.ID, tools...)
	}
	return c
}

// send sends a request with header fields, as name and value by turns.
func (w *registryTest) send(t testing.TB, method, target string, fields ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, baseURL+target, nil)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec.Result()
}

// entry is an entry as clients read it.
type entry struct {
	Server struct {
		Name        string `json:"name"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Version     string `json:"version"`
		Remotes     []struct {
			Type string `json:"type"`
			URL  string `json:"url"`
		} `json:"remotes"`
	} `json:"server"`
	Meta map[string]struct {
		Status    string    `json:"status"`
		IsLatest  bool      `json:"isLatest"`
		UpdatedAt time.Time `json:"updatedAt"`
	} `json:"_meta"`
}

type page struct {
	Servers  []entry `json:"servers"`
	Metadata struct {
		Count      int    `json:"count"`
		NextCursor string `json:"nextCursor"`
	} `json:"metadata"`
}

func (p page) names() string {
	var names []string
	for _, e := range p.Servers {
		names = append(names, strings.TrimPrefix(e.Server.Name, namespace))
	}
	return strings.Join(names, " ")
}

// read reads a document of a registry, checks it against a definition of the schema, and decodes it.
func read[T any](t testing.TB, w *registryTest, target, definition string, fields ...string) (document T) {
	t.Helper()
	res := w.send(t, http.MethodGet, target, fields...)
	body := &bytes.Buffer{}
	_, _ = body.ReadFrom(res.Body)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: status %d, %s", target, res.StatusCode, body)
	}
	if kind := res.Header.Get("Content-Type"); kind != "application/json" {
		t.Errorf("GET %s: %s", target, kind)
	}
	var value any
	if err := json.Unmarshal(body.Bytes(), &value); err != nil {
		t.Fatal(err)
	}
	if err := schema(t, definition).Validate(value); err != nil {
		t.Errorf("GET %s: %v in %s", target, err, body)
	}
	if err := json.Unmarshal(body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

func (w *registryTest) list(t testing.TB, target string, fields ...string) page {
	t.Helper()
	return read[page](t, w, target, "ServerList", fields...)
}

// schema returns a definition of the official registry's schema.
func schema(t testing.TB, definition string) *jsonschema.Resolved {
	t.Helper()
	raw, err := os.ReadFile("testdata/registry.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s := &jsonschema.Schema{}
	if err := json.Unmarshal(raw, s); err != nil {
		t.Fatal(err)
	}
	s.Ref = "#/$defs/" + definition
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}
