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

// Options are what a [Post] stands on. Store, HTTP and CheckURL are required.
type Options struct {
	Store    *store.Store
	HTTP     *http.Client                       // of safehttp: it follows no redirects
	CheckURL func(raw string) (*url.URL, error) // the egress rules
	BaseURL  string                             // of the dashboard, which links lead to
	Log      *slog.Logger                       // nil: none
	Now      func() time.Time                   // nil: time.Now
	Timeout  time.Duration                      // of a try, from the look-up of the name to the head of the answer; 0: 10 s
	Jitter   func(time.Duration) time.Duration  // nil: up to a tenth more, so that what failed together is not tried together
}

// Post sends what webhooks are told. It is safe for concurrent use.
type Post struct {
	store    *store.Store
	http     *http.Client
	checkURL func(string) (*url.URL, error)
	baseURL  string
	log      *slog.Logger
	now      func() time.Time
	timeout  time.Duration
	jitter   func(time.Duration) time.Duration
	places   *places
}

// New makes a Post.
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
		timeout: cmp.Or(o.Timeout, sendTimeout), jitter: o.Jitter, places: newPlaces(),
	}
}
