package scim_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/middleware"
	"patchbay/internal/scim"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

const baseURL = "https://patchbay.example.com"

// directory is a world with SCIM in its first tenant, which has an owner with a password.
type directory struct {
	*fixture.World
	service *scim.Service
	handler http.Handler
	owner   connectors.Member
	token   secret.Text
	ids     map[string]string // of resources, by the names of steps
	log     *bytes.Buffer
}

func newDirectory(t testing.TB, opts ...func(*scim.Options)) *directory {
	t.Helper()
	d := &directory{World: fixture.New(t), ids: map[string]string{}, log: &bytes.Buffer{}}
	d.service, d.handler = d.newReplica(t, d.St, opts...)
	d.owner = d.Member(t, connectors.RoleOwner, func(n *store.NewMember) { n.PasswordHash = "$argon2id$hash" })
	_, token, err := d.service.Enable(t.Context(), d.actor(t, d.Tenant))
	if err != nil {
		t.Fatal(err)
	}
	d.token = token
	return d
}

// newReplica returns the service of one more process.
func (d *directory) newReplica(t testing.TB, st *store.Store, opts ...func(*scim.Options)) (*scim.Service, http.Handler) {
	t.Helper()
	base, err := url.Parse(baseURL)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewJSONHandler(d.log, &slog.HandlerOptions{Level: slog.LevelError}))
	o := scim.Options{Store: st, BaseURL: base, Rate: 1000, Log: log}
	for _, opt := range opts {
		opt(&o)
	}
	service, err := scim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r := chi.NewRouter()
	r.Use(middleware.Chain(middleware.Options{BaseURL: base, Log: log, Refuse: service.WriteError})...)
	service.Mount(r)
	return service, r
}

func (d *directory) actor(t testing.TB, tenant connectors.TenantID) auth.Actor {
	t.Helper()
	self, err := d.St.Tenant(tenant).Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return auth.Actor{Kind: auth.KindPerson, Tenant: self, Role: connectors.RoleOwner, Name: "Ann"}
}

// mapGroups stores the roles of groups in the single sign-on settings.
func (d *directory) mapGroups(t testing.TB, opts ...func(*connectors.SSO)) {
	t.Helper()
	s := connectors.SSO{
		Issuer: "https://idp.example.com", ClientID: "patchbay", GroupsClaim: "groups",
		Groups: []connectors.GroupRole{{Group: "Admins", Role: connectors.RoleAdmin}, {Group: "Staff", Role: connectors.RoleMember}, {Group: "Owners", Role: connectors.RoleOwner}},
	}
	for _, opt := range opts {
		opt(&s)
	}
	if err := d.Door().SSO().Save(t.Context(), s, "secret"); err != nil {
		t.Fatal(err)
	}
}

// answer is a response with its decoded body.
type answer struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

func (d *directory) send(t testing.TB, method, path, body string) answer {
	t.Helper()
	return sendTo(t, d.handler, d.token, method, path, body)
}

func sendTo(t testing.TB, handler http.Handler, token secret.Text, method, path, body string) answer {
	t.Helper()
	before, query, _ := strings.Cut(path, "?")
	if query != "" { // steps write queries as people read them
		var pairs []string
		for pair := range strings.SplitSeq(query, "&") {
			name, value, _ := strings.Cut(pair, "=")
			pairs = append(pairs, name+"="+url.QueryEscape(value))
		}
		before += "?" + strings.Join(pairs, "&")
	}
	r := httptest.NewRequestWithContext(t.Context(), method, baseURL+"/scim/v2"+before, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/scim+json")
	if !token.Empty() {
		r.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	rec := httptest.NewRecorder()
	handler.ServeHTTP(rec, r)
	a := answer{status: rec.Code, header: rec.Header(), text: rec.Body.String()}
	if a.text != "" {
		decoder := json.NewDecoder(strings.NewReader(a.text))
		if err := decoder.Decode(&a.body); err != nil {
			t.Errorf("%s %s: no JSON: %s", method, path, a.text)
		}
		if _, err := decoder.Token(); err != io.EOF {
			t.Errorf("%s %s: more than one document: %s", method, path, a.text)
		}
		if kind := a.header.Get("Content-Type"); kind != "application/scim+json" {
			t.Errorf("%s %s: Content-Type %q", method, path, kind)
		}
	}
	return a
}

// at returns the value at a dotted path like Resources.0.name.givenName; nil: none.
func (a answer) at(path string) any {
	var value any = a.body
	for name := range strings.SplitSeq(path, "/") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// step is a request of a provider with what its test suite asserts.
type step struct {
	name   string
	do     string // method and path; {x} is the id that a step kept as x
	body   string
	status int
	want   map[string]any // by path; anything{}: present
	keep   string         // name of the id in the response
}

type anything struct{}

func (d *directory) fillIDs(text string) string {
	for name, id := range d.ids {
		text = strings.ReplaceAll(text, "{"+name+"}", id)
	}
	return text
}

func (d *directory) runSteps(t *testing.T, steps []step) {
	t.Helper()
	for _, s := range steps {
		method, path, _ := strings.Cut(d.fillIDs(s.do), " ")
		got := d.send(t, method, path, d.fillIDs(s.body))
		if got.status != s.status {
			t.Fatalf("%s: %s: status %d, want %d: %s%s", s.name, s.do, got.status, s.status, got.text, d.log)
		}
		if s.keep != "" {
			d.ids[s.keep], _ = got.at("id").(string)
		}
		for at, want := range s.want {
			if text, ok := want.(string); ok {
				want = d.fillIDs(text)
			}
			value := got.at(at)
			if _, any := want.(anything); any && value != nil || value == want {
				continue
			}
			t.Errorf("%s: %s is %v, want %v: %s", s.name, at, value, want, got.text)
		}
		if s.status >= 400 && (got.at("schemas/0") != "urn:ietf:params:scim:api:messages:2.0:Error" || got.at("detail") == nil || got.at("status") != strconv.Itoa(s.status)) {
			t.Errorf("%s: not SCIM's form of an error: %s", s.name, got.text)
		}
	}
}

// memberNamed returns the member with an address; nil: none.
func (d *directory) memberNamed(t testing.TB, email string) *connectors.Member {
	t.Helper()
	all, err := d.Door().People().Members(t.Context(), store.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all.Items {
		if m.Email == email {
			return &m
		}
	}
	return nil
}

func (d *directory) wantRole(t testing.TB, email string, role connectors.Role) {
	t.Helper()
	m := d.memberNamed(t, email)
	if m == nil && role != "" || m != nil && m.Role != role {
		t.Errorf("%s: %+v, want role %q", email, m, role)
	}
}
