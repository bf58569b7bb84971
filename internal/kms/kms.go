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

// Key is one key of a KMS. Its errors are faults that name the service and say what it said.
type Key interface {
	Wrap(ctx context.Context, plain secret.Text) (wrapped []byte, err error)
	Unwrap(ctx context.Context, wrapped []byte) (secret.Text, error)
}

// Options say how to reach a KMS.
type Options struct {
	HTTP        *http.Client
	Env         func(string) string     // os.Getenv, but in tests
	Credentials aws.CredentialsProvider // nil: as the AWS SDK finds them
}

// Open is the key at an address. It asks nobody yet.
func (a Address) Open(o Options) (Key, error) {
	endpoint, err := a.Endpoint(o.Env)
	if err != nil {
		return nil, err
	}
	way := way{http: o.HTTP, endpoint: endpoint.String(), host: endpoint.Host}
	if a.arn.text != "" {
		return awsKey{way: way, arn: a.arn, credentials: o.Credentials}, nil
	}
	return newVaultKey(way, a.vault, o.Env)
}

const (
	patience   = 15 * time.Second // of one request, and of what it takes to know who we are
	mostAnswer = 64 << 10         // bytes
	mostSaid   = 300              // bytes of what a service says of a failure
)

// way is how requests get to a service.
type way struct {
	http     *http.Client
	endpoint string
	host     string
}

// exchange posts a document and reads the answer into out. A refusal is told by what said makes of its body.
func (w way) exchange(r *http.Request, out any, said func(body []byte) string) error {
	res, err := w.http.Do(r)
	if err != nil {
		return w.unavailable("is not reached", err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if err != nil {
		return w.unavailable("broke off its answer", err)
	}
	if res.StatusCode != http.StatusOK {
		return w.unavailable(fmt.Sprintf("refused with status %d%s", res.StatusCode, quoted(said(body))), nil)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return w.unavailable("answered with something that is not its JSON", nil) // the error could quote a key
	}
	return nil
}

// quoted is what a service says as part of a sentence: one line, cut between two characters.
func quoted(said string) string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, said)
	if line = strings.TrimSpace(strings.ToValidUTF8(line[:min(len(line), mostSaid)], "")); line == "" {
		return ""
	}
	return ": " + line
}

func (w way) unavailable(what string, cause error) error {
	why := ""
	if cause != nil {
		why = " (" + innermost(cause).Error() + ")"
	}
	return fault.Wrap(fault.Unavailable, cause, fmt.Sprintf("The KMS at %s, which PATCHBAY_KEYSET names, %s%s.", w.host, what, why))
}

// innermost leaves out the request's address, which says again what the sentence has said.
func innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}
