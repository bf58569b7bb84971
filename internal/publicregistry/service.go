package publicregistry

import (
	"log/slog"
	"net/url"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/store"
)

// Reads of lists at the same time: of one tenant, and of all.
const (
	maxTenantReads = 2
	maxReads       = 8
)

// Options configure a [Service]. Store and BaseURL are required.
type Options struct {
	Store   *store.Store
	BaseURL *url.URL         // where clients reach Patchbay
	Log     *slog.Logger     // nil: discard
	Now     func() time.Time // nil: time.Now
}

// Service manages and serves registries. It is safe for concurrent use.
type Service struct {
	store     *store.Store
	baseURL   *url.URL
	namespace string // of entries' names
	log       *slog.Logger
	now       func() time.Time
	reads     *limit.Gate[connectors.TenantID]
}

// New returns a Service.
func New(o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Service{
		store: o.Store, baseURL: o.BaseURL, namespace: reverseHost(o.BaseURL.Hostname()), log: o.Log, now: o.Now,
		reads: limit.NewGate[connectors.TenantID](maxTenantReads, maxReads),
	}
}

// reverseHost returns a host name in reverse order: com.example.patchbay.
func reverseHost(host string) string {
	labels := strings.Split(strings.ToLower(host), ".")
	for i, j := 0, len(labels)-1; i < j; i, j = i+1, j-1 {
		labels[i], labels[j] = labels[j], labels[i]
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-' // an IPv6 address
	}, strings.Join(labels, "."))
}
