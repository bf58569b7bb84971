package webhooks

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"patchbay/internal/store"
)

// Options configure a [Post]. Store, HTTP and CheckURL are required.
type Options struct {
	Store    *store.Store
	HTTP     *http.Client                       // of safehttp, without redirects
	CheckURL func(raw string) (*url.URL, error) // the egress rules
	BaseURL  string                             // of the dashboard, for links
	Log      *slog.Logger                       // nil: discard
	Now      func() time.Time                   // nil: time.Now
	Timeout  time.Duration                      // of a try, from DNS to the response header; 0: 10 s
	Jitter   func(time.Duration) time.Duration  // nil: up to 10 % more, so that deliveries that failed together are not retried together
}

// Post sends webhook deliveries. It is safe for concurrent use.
type Post struct {
	store    *store.Store
	http     *http.Client
	checkURL func(string) (*url.URL, error)
	baseURL  string
	log      *slog.Logger
	now      func() time.Time
	timeout  time.Duration
	jitter   func(time.Duration) time.Duration
	gates    gates
}

// New returns a Post.
func New(o Options) *Post {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = func(d time.Duration) time.Duration { return d + rand.N(d/10+1) }
	}
	return &Post{
		store: o.Store, http: o.HTTP, checkURL: o.CheckURL, baseURL: o.BaseURL, log: o.Log, now: o.Now,
		timeout: cmp.Or(o.Timeout, sendTimeout), jitter: o.Jitter, gates: newGates(),
	}
}
