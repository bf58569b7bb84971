package authserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/jws"
	"patchbay/internal/limit"
	"patchbay/internal/safehttp"
)

// Bounds of reading issuers' keys.
const (
	keysTimeout   = 5 * time.Second // of both documents
	maxKeysBytes  = 256 << 10       // of each
	keysTTL       = 5 * time.Minute
	keysPause     = time.Minute      // between two reads for unknown keys
	keysErrorTTL  = 15 * time.Second // pause after a failed read
	maxKeySets    = 1000             // cached
	maxKeyReads   = 16               // at the same time; one of a tenant
	maxIssuerKeys = 100              // used of a document
)

// keySetID names a key set. Tenants share none: an egress proxy may answer them differently.
type keySetID struct {
	tenant connectors.TenantID
	issuer string
}

// keySet is what is known of an issuer's keys.
type keySet struct {
	keys    []jose.JSONWebKey
	readAt  time.Time // of keys
	triedAt time.Time // last read
	err     error     // of the last read
}

// findKeys returns the keys for a kid, or the error of the last read. known: the set answers without another read.
func (k keySet) findKeys(kid string, now time.Time) (keys []jose.JSONWebKey, known bool, err error) {
	if now.Sub(k.readAt) < keysTTL {
		if keys = selectKeys(k.keys, kid); len(keys) > 0 {
			return keys, true, nil
		}
	}
	pause := keysPause
	if k.err != nil {
		pause = keysErrorTTL
	}
	return nil, now.Sub(k.triedAt) < pause, k.err
}

// selectKeys returns the keys with a kid; without one, all.
func selectKeys(keys []jose.JSONWebKey, kid string) []jose.JSONWebKey {
	if kid == "" {
		return keys
	}
	set := jose.JSONWebKeySet{Keys: keys}
	return set.Key(kid)
}

// keySetCache caches issuers' keys for some minutes. A key that an issuer removed is refused after that time.
type keySetCache struct {
	http     *http.Client
	checkURL func(string) (*url.URL, error)
	log      *slog.Logger
	now      func() time.Time
	reading  *limit.Gate[connectors.TenantID]
	known    *limit.Recent[keySetID, keySet]
}

func newKeySets(o Options) *keySetCache {
	return &keySetCache{
		http: o.HTTP, checkURL: o.CheckURL, log: o.Log, now: o.Now,
		reading: limit.NewGate[connectors.TenantID](1, maxKeyReads), known: limit.NewRecent[keySetID, keySet](maxKeySets),
	}
}

// findKeys returns an issuer's keys with a kid. It reads them again if the kid is unknown, at most once a minute.
func (c *keySetCache) findKeys(ctx context.Context, id keySetID, kid string) ([]jose.JSONWebKey, error) {
	if keys, known, err := c.known.Get(id).findKeys(kid, c.now()); known {
		return keys, err
	}
	if err := c.reading.Acquire(ctx, id.tenant); err != nil {
		return nil, err
	}
	defer c.reading.Release(id.tenant)
	set := c.known.Get(id) // another request may have read them meanwhile
	if keys, known, err := set.findKeys(kid, c.now()); known {
		return keys, err
	}
	keys, err := c.readKeys(safehttp.WithTenant(ctx, id.tenant.String()), id.issuer)
	if ctx.Err() != nil {
		return nil, ctx.Err() // the caller's end says nothing about the issuer
	}
	set.triedAt, set.err = c.now(), nil
	if err != nil {
		c.log.WarnContext(ctx, "keys of a workload's issuer not read", slog.String("tenant", id.tenant.String()), slog.String("issuer", id.issuer), slog.Any("error", err))
		set.err = fault.Wrap(fault.Unavailable, err, "Can't read the keys of the issuer "+hostFor(id.issuer)+".")
	} else {
		set.keys, set.readAt = keys, set.triedAt
	}
	c.known.Put(id, set)
	keys, _, err = set.findKeys(kid, c.now())
	return keys, err
}

// readKeys reads an issuer's keys at the address that its metadata names (OpenID Connect Discovery section 4).
func (c *keySetCache) readKeys(ctx context.Context, issuer string) ([]jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeout(ctx, keysTimeout)
	defer cancel()
	var meta struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := c.readDocument(ctx, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", &meta); err != nil {
		return nil, err
	}
	if meta.Issuer != issuer {
		return nil, errors.New("the metadata is of another issuer")
	}
	var set rawKeySet
	if err := c.readDocument(ctx, meta.Keys, &set); err != nil {
		return nil, err
	}
	return set.publicKeys(), nil
}

func (c *keySetCache) readDocument(ctx context.Context, at string, into any) error {
	if _, err := c.checkURL(at); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json, application/jwk-set+json")
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d", res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxKeysBytes+1))
	if err != nil {
		return err
	}
	if len(body) > maxKeysBytes {
		return fmt.Errorf("the document is longer than %d bytes", maxKeysBytes)
	}
	return json.Unmarshal(body, into)
}

// rawKeySet is a JWK Set (RFC 7517 section 5). Its keys are parsed one by one.
type rawKeySet struct {
	Keys []json.RawMessage `json:"keys"`
}

// publicKeys returns the keys that can verify. Others are ignored (RFC 7517 section 5), and none is a shared secret.
func (s rawKeySet) publicKeys() []jose.JSONWebKey {
	var keys []jose.JSONWebKey
	for _, raw := range s.Keys {
		if len(keys) == maxIssuerKeys {
			break
		}
		if key, err := jws.ParseKey(raw); err == nil && key.IsPublic() {
			keys = append(keys, key)
		}
	}
	return keys
}
