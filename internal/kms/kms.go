package kms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// Key is one key of a KMS. Its errors are faults with the service's message.
type Key interface {
	Wrap(ctx context.Context, plain secret.Text) (wrapped []byte, err error)
	Unwrap(ctx context.Context, wrapped []byte) (secret.Text, error)
}

// Options say how to reach a KMS.
type Options struct {
	HTTP        *http.Client
	Env         func(string) string     // os.Getenv, except in tests
	Credentials aws.CredentialsProvider // nil: the SDK's default chain
}

// Open returns the key of an address, without a request.
func (a Address) Open(o Options) (Key, error) {
	endpoint, err := a.Endpoint(o.Env)
	if err != nil {
		return nil, err
	}
	way := transport{http: o.HTTP, endpoint: endpoint.String(), host: endpoint.Host}
	if a.arn.text != "" {
		return awsKey{transport: way, arn: a.arn, credentials: o.Credentials}, nil
	}
	return newVaultKey(way, a.vault, o.Env)
}

const (
	requestTimeout   = 15 * time.Second // per request, including loading credentials
	maxResponseBytes = 64 << 10         // bytes
	maxQuotedLength  = 300              // bytes of a service's error message
)

// transport sends requests to a KMS.
type transport struct {
	http     *http.Client
	endpoint string
	host     string
}

// doRequest sends a request and decodes the response into out. said extracts the message of an error response.
func (w transport) doRequest(r *http.Request, out any, said func(body []byte) string) error {
	res, err := w.http.Do(r)
	if err != nil {
		return w.newUnavailable("can't be reached", err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxResponseBytes))
	if err != nil {
		return w.newUnavailable("cut off its answer", err)
	}
	if res.StatusCode != http.StatusOK {
		return w.newUnavailable(fmt.Sprintf("refused with status %d%s", res.StatusCode, cleanQuote(said(body))), nil)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return w.newUnavailable("sent an invalid answer", nil) // the error could quote a key
	}
	return nil
}

// cleanQuote returns a service's message as one bounded line.
func cleanQuote(said string) string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, said)
	if line = strings.TrimSpace(strings.ToValidUTF8(line[:min(len(line), maxQuotedLength)], "")); line == "" {
		return ""
	}
	return ": " + line
}

func (w transport) newUnavailable(what string, cause error) error {
	why := ""
	if cause != nil {
		why = " (" + innermostError(cause).Error() + ")"
	}
	return fault.Wrap(fault.Unavailable, cause, fmt.Sprintf("The KMS at %s (PATCHBAY_KEYSET) %s%s.", w.host, what, why))
}

// innermostError drops the wrapping that repeats the request's URL.
func innermostError(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}
