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

// flowLife is how long a person may stay at the provider.
const flowLife = 10 * time.Minute

// Options are what a [Service] stands on. Store, HTTP, CheckURL and BaseURL are required.
type Options struct {
	Store     *store.Store
	HTTP      *http.Client                       // of safehttp, bounded
	CheckURL  func(raw string) (*url.URL, error) // the egress rules
	BaseURL   string                             // of the dashboard
	Log       *slog.Logger                       // nil: none
	Now       func() time.Time                   // nil: time.Now
	LookupTXT func(ctx context.Context, name string) ([]string, error)
}

// Service signs people in. It is safe for concurrent use.
type Service struct {
	store     *store.Store
	http      *http.Client
	checkURL  func(string) (*url.URL, error)
	baseURL   string
	log       *slog.Logger
	now       func() time.Time
	lookupTXT func(context.Context, string) ([]string, error)
	known     *providers
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

// RedirectURI is where providers send browsers back to, which an owner tells the provider.
func (s *Service) RedirectURI() string { return s.baseURL + CallbackPath }

// CallbackPath is the redirect URI's path.
const CallbackPath = "/login/sso/callback"
