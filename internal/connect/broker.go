package connect

import (
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Paths for authorization servers, below the base URL.
const (
	callbackPath = "/oauth/callback"
	documentPath = "/oauth/client-metadata.json"
	linkPath     = "/connect/"
)

// CallbackURL returns the redirect URI for a base URL without a trailing slash.
func CallbackURL(baseURL string) string { return baseURL + callbackPath }

// clientName is the client name that authorization servers show.
const clientName = "Patchbay"

// Options configure a [Broker]. Log, Now and CIMDURL are optional.
type Options struct {
	Store  *store.Store
	OAuth  *oauth.Client
	Dialer *mcp.Dialer
	Log    *slog.Logger
	Now    func() time.Time
	// BaseURL is the public URL, as "https://patchbay.example.com", without a trailing slash.
	BaseURL string
	// CIMDURL is our client id if that is a metadata document's URL; empty: the document below BaseURL.
	CIMDURL string
}

// Broker starts and finishes connections. It is safe for concurrent use, and keeps no state that another
// replica needs.
type Broker struct {
	store    *store.Store
	oauth    *oauth.Client
	dialer   *mcp.Dialer
	log      *slog.Logger
	now      func() time.Time
	baseURL  string
	document string // the URL of our client metadata document
	flights  singleflight.Group
	redactor *credentials.Resolver // of what servers say
}

// New makes a Broker.
func New(o Options) *Broker {
	b := &Broker{
		store: o.Store, oauth: o.OAuth, dialer: o.Dialer, log: o.Log, now: o.Now,
		baseURL: strings.TrimSuffix(o.BaseURL, "/"), document: o.CIMDURL,
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if b.now == nil {
		b.now = time.Now
	}
	b.redactor = credentials.NewRefreshing(credentials.Options{Store: o.Store, Log: b.log})
	b.document = DocumentURL(b.document, b.baseURL)
	return b
}

// DocumentURL returns the URL of our client metadata document: the configured one, else that below the base URL.
func DocumentURL(configured, baseURL string) string {
	if configured != "" {
		return configured
	}
	return strings.TrimSuffix(baseURL, "/") + documentPath
}

// RedirectURI returns our redirect URI.
func (b *Broker) RedirectURI() string { return CallbackURL(b.baseURL) }

// Document returns our Client ID Metadata Document.
func (b *Broker) Document() oauth.ClientDocument {
	return oauth.NewClientDocument(b.document, clientName, b.baseURL, b.RedirectURI())
}

// SessionBinding returns the binding of a flow to a browser session; empty for none.
func SessionBinding(token string) secret.Text { return newBinding("session:", token) }

// CookieBinding returns the binding of a flow to a browser cookie; empty for none.
func CookieBinding(value string) secret.Text { return newBinding("cookie:", value) }

// newBinding separates the two kinds: a forged cookie must not match a session.
func newBinding(kind, value string) secret.Text {
	if value == "" {
		return ""
	}
	return secret.Text(kind + value)
}

func (b *Broker) tenantStore(id connectors.TenantID) *store.Tenant { return b.store.Tenant(id) }
