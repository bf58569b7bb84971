package main

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

// keyHolder is what PATCHBAY_KEYSET says: the key that wraps all others, or the KMS that holds it. A KMS is asked once, before the database is
// opened, and never again by this process.
type keyHolder struct {
	kek secret.KEK // zero: the KMS was not asked yet
	uri string     // of the KMS; empty: there is none
	kms kms.Key    // nil likewise
}

// holderOf makes the key where the first embedded start does.
func holderOf(d config.Database) (*keyHolder, error) {
	if text := strings.TrimSpace(d.Keyset.Reveal()); kms.Is(text) {
		return kmsHolder(text)
	}
	kek, err := keyset(d)
	return &keyHolder{kek: kek}, err
}

func kmsHolder(uri string) (*keyHolder, error) {
	address, err := kms.Parse(uri)
	if err != nil {
		return nil, err
	}
	endpoint, err := address.Endpoint(os.Getenv)
	if err != nil {
		return nil, err
	}
	client, err := kmsClient(endpoint)
	if err != nil {
		return nil, err
	}
	key, err := address.Open(kms.Options{HTTP: client, Env: os.Getenv})
	if err != nil {
		return nil, err
	}
	return &keyHolder{uri: uri, kms: key}, nil
}

// kmsClient reaches one place, which the operator has named, wherever that is. The egress proxy is for what tenants name.
func kmsClient(endpoint *url.URL) (*http.Client, error) {
	port := endpoint.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[endpoint.Scheme]
	}
	allow, err := safehttp.ParseAllow(net.JoinHostPort(endpoint.Hostname(), port))
	if err != nil {
		return nil, err
	}
	roots, err := kmsRoots()
	if err != nil {
		return nil, err
	}
	return safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow, UserAgent: "Patchbay/" + version(), RootCAs: roots, Standard: true}).Client(), nil
}

// kmsRoots are the certificates that Vault's and AWS's own programs would trust; nil: the system's.
func kmsRoots() (*x509.CertPool, error) {
	for _, name := range []string{"VAULT_CACERT", "AWS_CA_BUNDLE"} {
		path := os.Getenv(name)
		if path == "" {
			continue
		}
		pem, err := os.ReadFile(path)
		roots := x509.NewCertPool()
		if err != nil || !roots.AppendCertsFromPEM(pem) {
			return nil, fault.Wrap(fault.Invalid, err, name+" must be a file of certificates in PEM.")
		}
		return roots, nil
	}
	return nil, nil
}

// check refuses a key that does not open what is in the database, whose schema may be of any age.
func (h *keyHolder) check(ctx context.Context, pool *pgxpool.Pool) error {
	found, fresh, err := h.find(ctx, pool)
	switch {
	case err != nil:
		return err
	case found:
		return store.CheckKey(ctx, pool, h.kek)
	case !fresh:
		return h.notHeld()
	}
	return nil
}

// open is the key. A fresh database gets one that the KMS has wrapped.
func (h *keyHolder) open(ctx context.Context, pool *pgxpool.Pool) (secret.KEK, error) {
	found, fresh, err := h.find(ctx, pool)
	switch {
	case err == nil && !found && fresh:
		err = h.make(ctx, pool)
	case err == nil && !found:
		err = h.notHeld()
	}
	return h.kek, err
}

// obtain is the key for a database whose keys it does not wrap yet.
func (h *keyHolder) obtain(ctx context.Context, pool *pgxpool.Pool) (secret.KEK, error) {
	found, _, err := h.find(ctx, pool)
	if err == nil && !found {
		err = h.make(ctx, pool)
	}
	return h.kek, err
}

func (h *keyHolder) notHeld() error {
	return fault.Errorf(fault.Unavailable, "The KMS that PATCHBAY_KEYSET names does not hold the key of this database. "+
		"With the PATCHBAY_KEYSET of before, run: patchbay keys rewrap --to %s", h.uri)
}

// find has the KMS open what it holds for the database, unless the key is known.
func (h *keyHolder) find(ctx context.Context, pool *pgxpool.Pool) (found, fresh bool, err error) {
	if !h.kek.IsZero() || h.kms == nil {
		return true, false, nil
	}
	wrapped, fresh, err := store.KMSKey(ctx, pool, h.uri)
	if err != nil || wrapped == nil {
		return false, fresh, err
	}
	return true, false, h.unwrap(ctx, wrapped)
}

func (h *keyHolder) unwrap(ctx context.Context, wrapped []byte) error {
	text, err := h.kms.Unwrap(ctx, wrapped)
	if err != nil {
		return err
	}
	h.kek, err = secret.DecodeKEK(text)
	return err
}

// make has the KMS wrap a new key.
func (h *keyHolder) make(ctx context.Context, pool *pgxpool.Pool) error {
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
		return h.unwrap(ctx, stored)
	}
	h.kek = kek
	return nil
}

// by names the KMS, where there is one.
func (h *keyHolder) by() string {
	if h.kms == nil {
		return ""
	}
	return ", by way of " + h.uri
}
