package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// maxResponseBytes bounds a response's body.
	maxResponseBytes = 64 << 20
	// maxAttempts bounds the attempts of a rate-limited request.
	maxAttempts = 4
	// maxRetryAfter is the longest Retry-After that is waited for.
	maxRetryAfter = time.Minute
)

// Client is a client of one installation with one API key. It is safe for concurrent use.
type Client struct {
	base *url.URL
	key  string
	http *http.Client

	impatient bool
}

// Option configures a Client.
type Option func(*Client)

// WithHTTPClient sends requests by h instead of a client with a timeout of two minutes. Redirects are not
// followed either way.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) {
		own := *h
		own.CheckRedirect = keepRedirect
		c.http = &own
	}
}

// WithoutWaiting returns 429 responses as errors instead of retrying.
func WithoutWaiting() Option {
	return func(c *Client) { c.impatient = true }
}

// New returns a Client for an installation such as https://patchbay.example.com, with an API key (pb_key_…).
func New(address, key string, options ...Option) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(address, "/"))
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.User != nil || base.RawQuery != "" {
		return nil, fmt.Errorf("%q is not an installation's URL, such as https://patchbay.example.com", address)
	}
	if strings.ContainsAny(key, " \r\n") || key == "" {
		return nil, errors.New("the API key is missing or malformed")
	}
	c := &Client{base: base, key: key, http: &http.Client{Timeout: 2 * time.Minute, CheckRedirect: keepRedirect}}
	for _, o := range options {
		o(c)
	}
	return c, nil
}

// keepRedirect returns redirects unfollowed: the API has none, and the key must not go elsewhere.
func keepRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// do performs one operation. out is nil if there is no response body.
func (c *Client) do(ctx context.Context, method string, path []string, query url.Values, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("encode the request: %w", err)
		}
	}
	at := c.base.String() + "/" + strings.Join(path, "/")
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	answer, err := c.sendWithRetry(ctx, method, at, body)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s did not return a valid Patchbay response: %w", c.base.Host, err)
	}
	return nil
}

func (c *Client) sendWithRetry(ctx context.Context, method, address string, body []byte) ([]byte, error) {
	for try := 1; ; try++ {
		answer, err := c.sendOnce(ctx, method, address, body)
		problem, refused := errors.AsType[*Problem](err)
		if !refused || problem.Status != http.StatusTooManyRequests || c.impatient || try == maxAttempts || problem.RetryAfter > maxRetryAfter {
			return answer, err
		}
		if err := waitFor(ctx, problem.RetryAfter); err != nil {
			return nil, errors.Join(problem, err)
		}
	}
}

func waitFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) sendOnce(ctx context.Context, method, address string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxResponseBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the response: %w", err)
	case len(answer) > maxResponseBytes:
		return nil, errors.New("the response is larger than 64 MiB")
	case response.StatusCode < 200 || response.StatusCode > 299:
		return nil, readProblem(response, answer)
	}
	return answer, nil
}

// retryAfter returns the delay of a Retry-After header in seconds (RFC 9110 section 10.2.3), by default one
// second.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 1 {
		return time.Second
	}
	return time.Duration(min(seconds, 1<<20)) * time.Second
}

// pages iterates over the items of all pages. An error ends the iteration.
func pages[T any](page func(cursor string) ([]T, *string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor := ""
		for {
			items, next, err := page(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil || *next == "" {
				return
			}
			cursor = *next
		}
	}
}

// firstQuery returns the query of an argument that may be left out.
func firstQuery[Q any](of []Q) (q Q) {
	if len(of) > 0 {
		q = of[0]
	}
	return q
}
