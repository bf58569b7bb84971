package embeddings_test

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/embeddings"
)

// newEndpoint returns a client of an endpoint that answers so.
func newEndpoint(t *testing.T, answer http.HandlerFunc) *embeddings.Client {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return embeddings.New(embeddings.Options{HTTP: s.Client(), URL: s.URL + "/v1/", Model: "small", Key: "k-1"})
}

func TestClient_Embeds(t *testing.T) {
	t.Parallel()
	c := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model string
			Input []string
		}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &asked); err != nil || asked.Model != "small" || strings.Join(asked.Input, "|") != "a|b" {
			t.Errorf("asked %s", body)
		}
		if r.Method != http.MethodPost || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer k-1" {
			t.Errorf("%s %s, %v", r.Method, r.URL, r.Header)
		}
		_, _ = io.WriteString(w, `{"data":[{"index":1,"embedding":[0,-2]},{"index":0,"embedding":[0.5,0]}],"usage":{}}`)
	})
	got, err := c.Embed(t.Context(), []string{"a", "b"})
	if err != nil || len(got) != 2 || embeddings.Cosine(got[0], embeddings.NewVector([]float32{7, 0})) != 1 || embeddings.Cosine(got[1], embeddings.NewVector([]float32{0, 1})) != -1 {
		t.Errorf("%v, %v", got, err)
	}
	if c.Model() != "small" || embeddings.New(embeddings.Options{}) != nil {
		t.Error("without a URL there is a client")
	}
}

func TestClient_RefusesOtherAnswers(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		`{}`, `[]`, `{"data":[]}`, `{"data":[{"index":1,"embedding":[1]}]}`, `{"data":[{"index":0,"embedding":[0,0]}]}`, `{"data":[{"index":0,"embedding":[]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, `{"data":[{"index":-1,"embedding":[1]}]}`, `secret`,
		`{"data":[{"index":0,"embedding":[1` + strings.Repeat(",1", embeddings.MaxDimensions) + `]}]}`,
	} {
		c := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
		if got, err := c.Embed(t.Context(), []string{"a"}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.60s: %v, %v", answer, got, err)
		}
	}
	c := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "secret", http.StatusUnauthorized) })
	if _, err := c.Embed(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "401") || strings.Contains(err.Error(), "secret") {
		t.Errorf("refused with %v", err)
	}
	for _, n := range []int{0, embeddings.MaxTexts + 1} {
		if _, err := c.Embed(context.Background(), make([]string, n)); err == nil {
			t.Errorf("%d texts are sent", n)
		}
	}
}

func TestVector_KeepsItsDirection(t *testing.T) {
	t.Parallel()
	a, b := make([]float32, 1000), make([]float32, 1000)
	var product, squareA, squareB float64
	for i := range a {
		a[i], b[i] = float32(math.Sin(float64(i)))/30, float32(math.Sin(float64(i)+1))*40
		product, squareA, squareB = product+float64(a[i]*b[i]), squareA+float64(a[i]*a[i]), squareB+float64(b[i]*b[i])
	}
	want := product / math.Sqrt(squareA*squareB)
	if got := embeddings.Cosine(embeddings.NewVector(a), embeddings.NewVector(b)); math.Abs(got-want) > 0.01 {
		t.Errorf("cosine %.3f, not %.3f", got, want)
	}
	if got := embeddings.Cosine(embeddings.NewVector(a), embeddings.NewVector(b[:10])); got != 0 {
		t.Errorf("vectors of two models: %v", got)
	}
	if v := embeddings.NewVector([]float32{1, float32(math.NaN())}); v != nil {
		t.Errorf("%v", v)
	}
}
