package connect

import (
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Where authorization servers find us, below the base URL.
const (
	callbackPath = "/oauth/callback"
	documentPath = "/oauth/client-metadata.json"
	linkPath     = "/connect/"
)

// CallbackURL is where authorization servers send browsers back to, for a base URL without a slash at its end.
func CallbackURL(baseURL string) string { return baseURL + callbackPath }

// clientName is what authorization servers show people.
const clientName = "Patchbay"

// Options are what a Broker needs. Log, Now and CIMDURL may be left out.
type Options struct {
	Store  *store.Store
	OAuth  *oauth.Client
	Dialer *mcp.Dialer
	Log    *slog.Logger
	Now    func() time.Time
	// BaseURL is where browsers reach us, as "https://patchbay.example.com", without a slash at the end.
	BaseURL string
	// CIMDURL is our client id where it is the URL of our metadata document; empty: the document's place below BaseURL.
	CIMDURL string
}

// Broker starts and finishes connections. It is safe for concurrent use, and keeps nothing in memory that another replica needs.
type Broker struct {
	store    *store.Store
	oauth    *oauth.Client
	dialer   *mcp.Dialer
	log      *slog.Logger
	now      func() time.Time
	baseURL  string
	document string // the URL of our client metadata document
	flights  singleflight.Group
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
	if b.document == "" {
		b.document = b.baseURL + documentPath
	}
	return b
}

// RedirectURI is where authorization servers send browsers back to.
func (b *Broker) RedirectURI() string { return CallbackURL(b.baseURL) }

// Document is our Client ID Metadata Document.
func (b *Broker) Document() oauth.ClientDocument {
	return oauth.NewClientDocument(b.document, clientName, b.baseURL, b.RedirectURI())
}

// SessionBinding is what binds a flow to the browser session with this token; empty for none.
func SessionBinding(token string) secret.Text { return binding("session:", token) }

// CookieBinding is what binds a flow to the browser that has this value in its cookie; empty for none.
func CookieBinding(value string) secret.Text { return binding("cookie:", value) }

// binding keeps the two apart: who can set a cookie must not be taken for a session.
func binding(kind, value string) secret.Text {
	if value == "" {
		return ""
	}
	return secret.Text(kind + value)
}

func (b *Broker) tenant(id connectors.TenantID) *store.Tenant { return b.store.Tenant(id) }
