package authserver

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"patchbay/internal/fault"
)

// Bounds of reading client metadata documents.
const (
	documentTimeout  = 5 * time.Second
	maxDocumentBytes = 64 << 10
	documentTTL      = 5 * time.Minute
	documentErrorTTL = 15 * time.Second // pause after a failed fetch
	maxDocuments     = 1000
	maxFetches       = 8
)

// documentCache caches clients' metadata documents for some minutes.
type documentCache struct {
	http     *http.Client
	checkURL func(string) (*url.URL, error)
	now      func() time.Time
	reading  chan struct{}

	mu    sync.Mutex
	known map[string]cachedDocument // guarded by mu
}

type cachedDocument struct {
	client Client
	err    error
	until  time.Time
}

func newDocuments(client *http.Client, check func(string) (*url.URL, error), now func() time.Time) *documentCache {
	return &documentCache{http: client, checkURL: check, now: now, reading: make(chan struct{}, maxFetches), known: map[string]cachedDocument{}}
}

func (d *documentCache) getClient(ctx context.Context, id string) (Client, error) {
	d.mu.Lock()
	known, ok := d.known[id]
	d.mu.Unlock()
	if ok && known.until.After(d.now()) {
		return known.client, known.err
	}
	select {
	case d.reading <- struct{}{}:
		defer func() { <-d.reading }()
	case <-ctx.Done():
		return Client{}, ctx.Err()
	}
	c, err := d.fetchClient(ctx, id)
	if ctx.Err() != nil {
		return Client{}, ctx.Err()
	}
	life := documentTTL
	if err != nil {
		life = documentErrorTTL
	}
	d.storeDocument(id, cachedDocument{client: c, err: err, until: d.now().Add(life)})
	return c, err
}

func (d *documentCache) storeDocument(id string, one cachedDocument) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for old, was := range d.known {
		if len(d.known) < maxDocuments && was.until.After(d.now()) {
			break // below the bound
		}
		delete(d.known, old) // an arbitrary one: it can be fetched again
	}
	d.known[id] = one
}

// clientMetadata has the fields in use of a document (draft-ietf-oauth-client-id-metadata-document section
// 4.1).
type clientMetadata struct {
	ClientID     string   `json:"client_id"`
	Name         string   `json:"client_name"`
	RedirectURIs []string `json:"redirect_uris"`
	Secret       any      `json:"client_secret"`
	TokenAuth    string   `json:"token_endpoint_auth_method"`
	BoundTokens  bool     `json:"dpop_bound_access_tokens"`
}

func (d *documentCache) fetchClient(ctx context.Context, id string) (Client, error) {
	at, err := d.checkURL(id)
	if err != nil {
		return Client{}, withCause(err, fault.Errorf(fault.Invalid, "The client metadata is at %s, which Patchbay doesn't contact.", hostFor(id)))
	}
	ctx, cancel := context.WithTimeout(ctx, documentTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return Client{}, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := d.http.Do(req)
	if err != nil {
		return Client{}, withCause(err, fault.Errorf(fault.Upstream, "Can't read the client metadata at %s.", at.Host))
	}
	defer func() { _ = res.Body.Close() }()
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode != http.StatusOK || media != "application/json" && !strings.HasSuffix(media, "+json") {
		return Client{}, fault.Errorf(fault.Upstream, "Can't read the client metadata at %s: HTTP %d.", at.Host, res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxDocumentBytes+1))
	if err != nil || len(body) > maxDocumentBytes {
		return Client{}, withCause(err, fault.Errorf(fault.Upstream, "The client metadata at %s is incomplete or too long.", at.Host))
	}
	return parseClient(id, at.Host, body)
}

// withCause adds the cause, for the log.
func withCause(cause error, f *fault.Error) error {
	f.Err = cause
	return f
}

func parseClient(id, host string, body []byte) (Client, error) {
	var p clientMetadata
	if json.Unmarshal(body, &p) != nil {
		return Client{}, fault.Errorf(fault.Invalid, "The client metadata at %s is invalid.", host)
	}
	switch {
	case p.ClientID != id: // by string comparison
		return Client{}, fault.Errorf(fault.Invalid, "The client metadata at %s is for another client.", host)
	case p.Secret != nil || p.TokenAuth != "" && p.TokenAuth != "none":
		return Client{}, fault.Errorf(fault.Invalid, "The client at %s uses unsupported authentication.", host)
	case checkRedirectURIs(p.RedirectURIs) != "":
		return Client{}, fault.Errorf(fault.Invalid, "The client metadata at %s has forbidden redirect URIs.", host)
	}
	name := displayName(p.Name)
	if name == "" {
		name = host
	}
	return Client{ID: id, Name: name, Host: host, RedirectURIs: p.RedirectURIs, NeedsProof: p.BoundTokens}, nil
}

func hostFor(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}
