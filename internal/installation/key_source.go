package installation

import (
	"bytes"
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/config"
	"patchbay/internal/fault"
	"patchbay/internal/kms"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// KeySource is the key of PATCHBAY_KEYSET, or the KMS that has it. A process asks the KMS once, before it opens
// the database.
type KeySource struct {
	kek secret.KEK // zero: the KMS was not asked yet
	uri string     // of the KMS; empty: none
	kms kms.Key    // nil: none
}

// NewKeySource returns the configured key, and creates the key file at the first embedded start. A KMS is told the
// program's version.
func NewKeySource(d config.Database, version string) (*KeySource, error) {
	if text := strings.TrimSpace(d.Keyset.Reveal()); kms.Is(text) {
		return NewKMSKeySource(text, version)
	}
	kek, err := readKeyset(d)
	return NewLocalKeySource(kek), err
}

// NewLocalKeySource returns a source of a key that no KMS wraps.
func NewLocalKeySource(kek secret.KEK) *KeySource { return &KeySource{kek: kek} }

// NewKMSKeySource returns the source of the key that the KMS at uri wraps.
func NewKMSKeySource(uri, version string) (*KeySource, error) {
	address, err := kms.Parse(uri)
	if err != nil {
		return nil, err
	}
	endpoint, err := address.Endpoint(os.Getenv)
	if err != nil {
		return nil, err
	}
	client, err := newKMSClient(endpoint, version)
	if err != nil {
		return nil, err
	}
	key, err := address.Open(kms.Options{HTTP: client, Env: os.Getenv})
	if err != nil {
		return nil, err
	}
	return &KeySource{uri: uri, kms: key}, nil
}

// newKMSClient returns a client for the endpoint that the operator has named, at any address. The egress proxy
// is only for tenants' URLs.
func newKMSClient(endpoint *url.URL, version string) (*http.Client, error) {
	port := endpoint.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[endpoint.Scheme]
	}
	allow, err := safehttp.ParseAllow(net.JoinHostPort(endpoint.Hostname(), port))
	if err != nil {
		return nil, err
	}
	roots, err := loadKMSRoots()
	if err != nil {
		return nil, err
	}
	return safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow, UserAgent: "Patchbay/" + version, RootCAs: roots, Standard: true}).Client(), nil
}

// loadKMSRoots loads the certificates that Vault's and AWS's programs would trust; nil: the system's.
func loadKMSRoots() (*x509.CertPool, error) {
	for _, name := range []string{"VAULT_CACERT", "AWS_CA_BUNDLE"} {
		path := os.Getenv(name)
		if path == "" {
			continue
		}
		pem, err := os.ReadFile(path)
		roots := x509.NewCertPool()
		if err != nil || !roots.AppendCertsFromPEM(pem) {
			return nil, fault.Wrap(fault.Invalid, err, name+" must be a file of PEM certificates.")
		}
		return roots, nil
	}
	return nil, nil
}

// CheckKey fails if the key does not open the database's keys, in any schema version.
func (h *KeySource) CheckKey(ctx context.Context, pool *pgxpool.Pool) error {
	found, fresh, err := h.findKey(ctx, pool)
	switch {
	case err != nil:
		return err
	case found:
		return store.CheckKey(ctx, pool, h.kek)
	case !fresh:
		return h.newNoKeyError()
	}
	return nil
}

// OpenKey returns the key. For a fresh database it creates one that the KMS wraps.
func (h *KeySource) OpenKey(ctx context.Context, pool *pgxpool.Pool) (secret.KEK, error) {
	found, fresh, err := h.findKey(ctx, pool)
	switch {
	case err == nil && !found && fresh:
		err = h.makeKey(ctx, pool)
	case err == nil && !found:
		err = h.newNoKeyError()
	}
	return h.kek, err
}

// FindOrCreateKey returns the key for a database whose keys it does not wrap yet.
func (h *KeySource) FindOrCreateKey(ctx context.Context, pool *pgxpool.Pool) (secret.KEK, error) {
	found, _, err := h.findKey(ctx, pool)
	if err == nil && !found {
		err = h.makeKey(ctx, pool)
	}
	return h.kek, err
}

func (h *KeySource) newNoKeyError() error {
	return fault.Errorf(fault.Unavailable, "The KMS in PATCHBAY_KEYSET does not hold the key of this database. "+
		"With the previous PATCHBAY_KEYSET, run: patchbay keys rewrap --to %s", h.uri)
}

// findKey makes the KMS unwrap the database's key, unless the key is known.
func (h *KeySource) findKey(ctx context.Context, pool *pgxpool.Pool) (found, fresh bool, err error) {
	if !h.kek.IsZero() || h.kms == nil {
		return true, false, nil
	}
	wrapped, fresh, err := store.KMSKey(ctx, pool, h.uri)
	if err != nil || wrapped == nil {
		return false, fresh, err
	}
	return true, false, h.unwrapKey(ctx, wrapped)
}

func (h *KeySource) unwrapKey(ctx context.Context, wrapped []byte) error {
	text, err := h.kms.Unwrap(ctx, wrapped)
	if err != nil {
		return err
	}
	h.kek, err = secret.DecodeKEK(text)
	return err
}

// makeKey creates a key that the KMS wraps.
func (h *KeySource) makeKey(ctx context.Context, pool *pgxpool.Pool) error {
	kek, err := secret.NewKEK()
	if err != nil {
		return err
	}
	wrapped, err := h.kms.Wrap(ctx, secret.Text(kek.Encode()))
	if err != nil {
		return err
	}
	stored, err := store.AddKMSKey(ctx, pool, h.uri, wrapped)
	if err != nil {
		return err
	}
	if !bytes.Equal(stored, wrapped) { // another process was faster
		return h.unwrapKey(ctx, stored)
	}
	h.kek = kek
	return nil
}

// DescribeKMS names the KMS, if any.
func (h *KeySource) DescribeKMS() string {
	if h.kms == nil {
		return ""
	}
	return ", via " + h.uri
}

// URI is that of the KMS; empty: there is none.
func (h *KeySource) URI() string { return h.uri }
