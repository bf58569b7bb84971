// Command zitadel is an organisation's OpenID provider of github.com/zitadel/oidc on a loopback port, http://localhost:PORT, with the
// storage of that module's example. It does for the end-to-end tests what openid-provider.mjs does with npm's oidc-provider, and differs
// where providers may: addresses are at the UserInfo endpoint alone, there is no consent page, the sign-in gives a refresh token, with
// which alone it can be exchanged, and a suspended person's exchange is refused with invalid_request, as RFC 8693 section 2.2.2 says.
//
// Environment: CLIENT_ID, CLIENT_SECRET, REDIRECT_URI; PEOPLE, as JSON: {"ada@acme.example": {"verified": true}}. When it is ready, it
// prints one line of JSON.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	issuer := "http://localhost:" + port
	oidc.AllTokenTypes = append(oidc.AllTokenTypes, idJAG)
	d := &directory{}
	if err := json.Unmarshal([]byte(os.Getenv("PEOPLE")), &d.people); err != nil {
		log.Fatal(err)
	}
	storage.RegisterClients(
		storage.WebClient(os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"), os.Getenv("REDIRECT_URI")),
		storage.WebClient("program", os.Getenv("CLIENT_SECRET"), issuer+"/admin/done"),
	)
	handler, err := newHandler(issuer, d)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf(`{"issuer":%q}`+"\n", issuer)
	log.Fatal(http.Serve(listener, handler))
}

func newHandler(issuer string, d *directory) (http.Handler, error) {
	config := &op.Config{CodeMethodS256: true, GrantTypeRefreshToken: true}
	if _, err := rand.Read(config.CryptoKey[:]); err != nil {
		return nil, err
	}
	store := &policyStorage{Storage: storage.NewStorage(d), directory: d}
	provider, err := op.NewProvider(config, store, op.StaticIssuer(issuer), op.WithAllowInsecure())
	if err != nil {
		return nil, err
	}
	s := &server{LegacyServer: op.NewLegacyServer(provider, *op.DefaultEndpoints), store: store}
	pages := &signInPages{store: store, callback: op.AuthCallbackURL(provider)}
	issuers := op.NewIssuerInterceptor(provider.IssuerFromRequest)
	protocol := op.RegisterLegacyServer(s, op.AuthorizeCallbackHandler(provider))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login/username", issuers.HandlerFunc(pages.show))
	mux.HandleFunc("POST /login/username", issuers.HandlerFunc(pages.signIn))
	mux.HandleFunc("/admin/", d.serveAdmin)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == op.DefaultEndpoints.Authorization.Relative() {
			d.count(&d.counts.Authorize)
		}
		protocol.ServeHTTP(w, r)
	})
	return mux, nil
}

// signInPages sign a person in by the address alone, once for a browser.
type signInPages struct {
	store    *policyStorage
	callback func(ctx context.Context, id string) string
}

var page = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign in</title><link rel="icon" href="data:,">
<main><h1>Sign in</h1><form id="login" method="post" action="/login/username?authRequestID={{.ID}}"><p>{{.Error}}</p>
<label>Account <input name="login" required></label><button>Sign in</button></form></main></html>`))

func (p *signInPages) show(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("authRequestID")
	if cookie, err := r.Cookie("account"); err == nil && p.store.CheckUsernamePassword(cookie.Value, "", id) == nil {
		http.Redirect(w, r, p.callback(r.Context(), id), http.StatusFound)
		return
	}
	_ = page.Execute(w, map[string]any{"ID": id})
}

func (p *signInPages) signIn(w http.ResponseWriter, r *http.Request) {
	id, account := r.URL.Query().Get("authRequestID"), r.PostFormValue("login")
	if err := p.store.CheckUsernamePassword(account, "", id); err != nil {
		_ = page.Execute(w, map[string]any{"ID": id, "Error": err})
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "account", Value: account, Path: "/", HttpOnly: true})
	http.Redirect(w, r, p.callback(r.Context(), id), http.StatusFound)
}

// serveAdmin has the levers of identity-exchange.mjs.
func (d *directory) serveAdmin(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodPost:
		if err := json.NewDecoder(r.Body).Decode(&d.policy); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, "{}")
	case r.URL.Path == "/admin/counts":
		_ = json.NewEncoder(w).Encode(d.counts)
	default:
		_, _ = io.WriteString(w, "{}")
	}
}
