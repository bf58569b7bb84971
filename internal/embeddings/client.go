package embeddings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"patchbay/internal/secret"
)

// Bounds of a request and of its answer.
const (
	MaxTexts      = 64
	MaxDimensions = 8192
	MaxBytes      = 32 << 20 // of an answer
	Timeout       = 30 * time.Second
)

// ErrRefused is an answer that says that the texts cannot be embedded: 400, 413 or 422.
var ErrRefused = errors.New("embeddings: the endpoint refuses the texts")

// Options configure a [Client].
type Options struct {
	HTTP  *http.Client // bounded by MaxBytes and Timeout, which follows the egress rules
	URL   string       // base of the API, such as https://api.example.com/v1
	Model string
	Key   secret.Text // empty: none
}

// Client asks an endpoint for embeddings of one model.
type Client struct{ o Options }

// New returns a client; nil without a URL.
func New(o Options) *Client {
	if o.URL == "" {
		return nil
	}
	o.URL = strings.TrimRight(o.URL, "/") + "/embeddings"
	return &Client{o}
}

// Model returns the model's name.
func (c *Client) Model() string { return c.o.Model }

// Embed returns the vectors of at most MaxTexts texts, in their order. Errors have nothing of texts and answers.
func (c *Client) Embed(ctx context.Context, texts []string) ([]Vector, error) {
	if len(texts) == 0 || len(texts) > MaxTexts {
		return nil, fmt.Errorf("embed %d texts: at most %d", len(texts), MaxTexts)
	}
	body, err := json.Marshal(struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{c.o.Model, texts})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if !c.o.Key.Empty() {
		r.Header.Set("Authorization", "Bearer "+c.o.Key.Reveal())
	}
	response, err := c.o.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return nil, fmt.Errorf("%w with status %d", ErrRefused, response.StatusCode)
	default:
		return nil, fmt.Errorf("embeddings: the endpoint answers with status %d", response.StatusCode)
	}
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, errors.New("embeddings: the endpoint's answer is not a list of embeddings")
	}
	vectors := make([]Vector, len(texts))
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= len(vectors) || vectors[d.Index] != nil {
			return nil, fmt.Errorf("embeddings: the answer has the index %d for %d texts", d.Index, len(texts))
		}
		if vectors[d.Index] = NewVector(d.Embedding); vectors[d.Index] == nil {
			return nil, fmt.Errorf("embeddings: the answer has a vector of %d dimensions, at most %d are read", len(d.Embedding), MaxDimensions)
		}
	}
	for i := range vectors {
		if vectors[i] == nil {
			return nil, fmt.Errorf("embeddings: the answer has %d vectors for %d texts", len(answer.Data), len(texts))
		}
	}
	return vectors, nil
}
