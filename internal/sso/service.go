package sso

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"patchbay/internal/store"
)

// flowLife bounds the time at the provider.
const flowLife = 10 * time.Minute

// Options configure a [Service]. Store, HTTP, CheckURL and BaseURL are required.
type Options struct {
	Store     *store.Store
	HTTP      *http.Client                       // from safehttp
	CheckURL  func(raw string) (*url.URL, error) // the egress rules
	BaseURL   string                             // of the dashboard
	Log       *slog.Logger                       // nil: none
	Now       func() time.Time                   // nil: time.Now
	LookupTXT func(ctx context.Context, name string) ([]string, error)
}

// Service signs people in by OpenID Connect. It is safe for concurrent use.
type Service struct {
	store     *store.Store
	http      *http.Client
	checkURL  func(string) (*url.URL, error)
	baseURL   string
	log       *slog.Logger
	now       func() time.Time
	lookupTXT func(context.Context, string) ([]string, error)
	known     *providerCache
}

// New makes a Service.
func New(o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LookupTXT == nil {
		o.LookupTXT = net.DefaultResolver.LookupTXT
	}
	return &Service{
		store: o.Store, http: o.HTTP, checkURL: o.CheckURL, baseURL: o.BaseURL, log: o.Log, now: o.Now, lookupTXT: o.LookupTXT,
		known: newProviders(),
	}
}

// RedirectURI returns the redirect URI to register at the provider.
func (s *Service) RedirectURI() string { return s.baseURL + CallbackPath }

// CallbackPath is the redirect URI's path.
const CallbackPath = "/login/sso/callback"
