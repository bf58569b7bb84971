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

// How programs' documents are read.
const (
	documentTime   = 5 * time.Second
	mostDocument   = 64 << 10
	documentLife   = 5 * time.Minute
	documentFailed = 15 * time.Second // for which one that cannot be read is not asked for again
	mostDocuments  = 1000
	readAtOnce     = 8
)

// documents reads what programs publish about themselves at the URL that is their client id, and remembers it for some minutes.
type documents struct {
	http     *http.Client
	checkURL func(string) (*url.URL, error)
	now      func() time.Time
	reading  chan struct{}

	mu    sync.Mutex
	known map[string]document // guarded by mu
}

type document struct {
	client Client
	err    error
	until  time.Time
}

func newDocuments(client *http.Client, check func(string) (*url.URL, error), now func() time.Time) *documents {
	return &documents{http: client, checkURL: check, now: now, reading: make(chan struct{}, readAtOnce), known: map[string]document{}}
}

func (d *documents) read(ctx context.Context, id string) (Client, error) {
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
	c, err := d.fetch(ctx, id)
	if ctx.Err() != nil {
		return Client{}, ctx.Err()
	}
	life := documentLife
	if err != nil {
		life = documentFailed
	}
	d.remember(id, document{client: c, err: err, until: d.now().Add(life)})
	return c, err
}

func (d *documents) remember(id string, one document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for old, was := range d.known {
		if len(d.known) < mostDocuments && was.until.After(d.now()) {
			break // there is room
		}
		delete(d.known, old) // any one: it is read again
	}
	d.known[id] = one
}

// published is what counts of a document (draft-ietf-oauth-client-id-metadata-document §4.1).
type published struct {
	ClientID     string   `json:"client_id"`
	Name         string   `json:"client_name"`
	RedirectURIs []string `json:"redirect_uris"`
	Secret       any      `json:"client_secret"`
	TokenAuth    string   `json:"token_endpoint_auth_method"`
}

func (d *documents) fetch(ctx context.Context, id string) (Client, error) {
	at, err := d.checkURL(id)
	if err != nil {
		return Client{}, because(err, fault.Errorf(fault.Invalid, "The program says that its description is at %s, where Patchbay does not connect to.", hostOf(id)))
	}
	ctx, cancel := context.WithTimeout(ctx, documentTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return Client{}, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := d.http.Do(req)
	if err != nil {
		return Client{}, because(err, fault.Errorf(fault.Upstream, "The description of the program, at %s, cannot be read.", at.Host))
	}
	defer func() { _ = res.Body.Close() }()
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode != http.StatusOK || media != "application/json" && !strings.HasSuffix(media, "+json") {
		return Client{}, fault.Errorf(fault.Upstream, "The description of the program, at %s, cannot be read: the server answers %d.", at.Host, res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, mostDocument+1))
	if err != nil || len(body) > mostDocument {
		return Client{}, because(err, fault.Errorf(fault.Upstream, "The description of the program, at %s, is cut off or too long.", at.Host))
	}
	return understood(id, at.Host, body)
}

// because adds the cause, for the log.
func because(cause error, f *fault.Error) error {
	f.Err = cause
	return f
}

func understood(id, host string, body []byte) (Client, error) {
	var p published
	if json.Unmarshal(body, &p) != nil {
		return Client{}, fault.Errorf(fault.Invalid, "The description of the program, at %s, is not what such a description looks like.", host)
	}
	switch {
	case p.ClientID != id: // by string comparison
		return Client{}, fault.Errorf(fault.Invalid, "The description of the program, at %s, is of another program.", host)
	case p.Secret != nil || p.TokenAuth != "" && p.TokenAuth != "none":
		return Client{}, fault.Errorf(fault.Invalid, "The program of %s wants to prove itself in a way that Patchbay does not know.", host)
	case unfit(p.RedirectURIs) != "":
		return Client{}, fault.Errorf(fault.Invalid, "The description of the program, at %s, names addresses for its answer where nobody may be sent.", host)
	}
	name := shownName(p.Name)
	if name == "" {
		name = host
	}
	return Client{ID: id, Name: name, Host: host, RedirectURIs: p.RedirectURIs}, nil
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}
