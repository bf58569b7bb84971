package scim

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	library "github.com/elimity-com/scim"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/store"
)

// Bounds of requests.
const (
	maxBody      = 1 << 20 // bytes
	maxFilter    = 1024    // bytes; the parser's time grows with nested parentheses
	maxNesting   = 10      // parentheses and brackets within each other in a filter or path
	maxPage      = 100     // resources
	maxPatchOps  = 1000    // operations
	burstSeconds = 4

	maxTenantRequests = 2 // at the same time
	maxRequests       = 8
)

// Options configure a [Service]. Store and BaseURL are required.
type Options struct {
	Store     *store.Store
	BaseURL   *url.URL             // where the provider reaches Patchbay
	Rate      int                  // requests per second of a tenant; 0: no limit
	Throttled func(limited string) // counts refused requests; nil: not counted
	Log       *slog.Logger         // nil: discard
	Now       func() time.Time     // nil: time.Now
}

// Service manages and serves the SCIM addresses. It is safe for concurrent use.
type Service struct {
	store     *store.Store
	url       string
	server    library.Server
	throttled func(limited string)
	log       *slog.Logger
	now       func() time.Time
	rate      int
	tenants   *limit.Rate[uuid.UUID]
	requests  *limit.Gate[connectors.TenantID]
}

// New returns a Service.
func New(o Options) (*Service, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Throttled == nil {
		o.Throttled = func(string) {}
	}
	s := &Service{
		store: o.Store, url: strings.TrimSuffix(o.BaseURL.JoinPath(pathPrefix).String(), "/"), throttled: o.Throttled, log: o.Log, now: o.Now,
		rate: o.Rate, tenants: limit.NewRate[uuid.UUID](float64(o.Rate), burstSeconds*o.Rate),
		requests: limit.NewGate[connectors.TenantID](maxTenantRequests, maxRequests),
	}
	var err error
	if s.server, err = s.newServer(); err != nil {
		return nil, fmt.Errorf("set up SCIM: %w", err)
	}
	return s, nil
}

// URL is the address that all tenants' providers use. The token tells them apart.
func (s *Service) URL() string { return s.url }
