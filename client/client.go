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
	// maxAnswer bounds what is read of one answer, in bytes.
	maxAnswer = 64 << 20
	// tries is how often a request is made that was refused for its pace.
	tries = 4
	// longestWait is how long a Retry-After may be that is waited for.
	longestWait = time.Minute
)

// Client asks one installation with one API key. It is safe for concurrent use.
type Client struct {
	base *url.URL
	key  string
	http *http.Client

	impatient bool
}

// Option changes a Client that is being made.
type Option func(*Client)

// WithHTTPClient has requests made as h makes them, in place of a client with a time-out of two minutes. Redirects are not followed all the
// same.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) {
		own := *h
		own.CheckRedirect = stay
		c.http = &own
	}
}

// WithoutWaiting has a request that came too soon (429) refused as any other, in place of being made again after a while.
func WithoutWaiting() Option {
	return func(c *Client) { c.impatient = true }
}

// New makes a Client of the installation at an address, as https://patchbay.example.com, with an API key (pb_key_…).
func New(address, key string, options ...Option) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(address, "/"))
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.User != nil || base.RawQuery != "" {
		return nil, fmt.Errorf("%q is not the address of an installation, as https://patchbay.example.com", address)
	}
	if strings.ContainsAny(key, " \r\n") || key == "" {
		return nil, errors.New("there is no API key, or it is not one")
	}
	c := &Client{base: base, key: key, http: &http.Client{Timeout: 2 * time.Minute, CheckRedirect: stay}}
	for _, o := range options {
		o(c)
	}
	return c, nil
}

// stay has redirects answered as what they are: the API makes none, and a key goes nowhere else.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// do performs one operation. out is nil where nothing is answered.
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
	answer, err := c.patiently(ctx, method, at, body)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s answered with something else than Patchbay does: %w", c.base.Host, err)
	}
	return nil
}

// patiently makes a request, and again where it came too soon.
func (c *Client) patiently(ctx context.Context, method, at string, body []byte) ([]byte, error) {
	for try := 1; ; try++ {
		answer, err := c.once(ctx, method, at, body)
		problem, refused := errors.AsType[*Problem](err)
		if !refused || problem.Status != http.StatusTooManyRequests || c.impatient || try == tries || problem.RetryAfter > longestWait {
			return answer, err
		}
		if err := rest(ctx, problem.RetryAfter); err != nil {
			return nil, errors.Join(problem, err)
		}
	}
}

func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) once(ctx context.Context, method, at string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
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
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case len(answer) > maxAnswer:
		return nil, errors.New("the answer is longer than 64 MiB")
	case response.StatusCode < 200 || response.StatusCode > 299:
		return nil, problemOf(response, answer)
	}
	return answer, nil
}

// retryAfter is how long to wait as a header says (RFC 9110 §10.2.3), in seconds; a second where it does not say.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 1 {
		return time.Second
	}
	return time.Duration(min(seconds, 1<<20)) * time.Second
}

// pages goes through the items of all pages. An error is the last that comes.
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
