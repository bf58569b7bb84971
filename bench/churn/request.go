package churn

import (
	"context"
	"io"
	"net/http"
)

// Request is a request to the JSON API.
type Request struct {
	Method string
	URL    string
	Key    string    // an API key
	Body   io.Reader // JSON; nil: none
}

// Send sends the request once, and reads the whole response.
func (q Request) Send(ctx context.Context, client *http.Client) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, q.Method, q.URL, q.Body)
	if err != nil {
		return 0, nil, err
	}
	r.GetBody = nil // net/http would retry some requests
	r.Header.Set("Authorization", "Bearer "+q.Key)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/json")
	return ReadAnswer(client.Do(r)) //nolint:bodyclose // ReadAnswer closes it
}

// ReadAnswer reads and closes the response of [http.Client.Do].
func ReadAnswer(a *http.Response, err error) (status int, body []byte, _ error) {
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = a.Body.Close() }()
	body, err = io.ReadAll(a.Body)
	return a.StatusCode, body, err
}
