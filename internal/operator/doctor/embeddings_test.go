package doctor

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/config"
)

func TestDoctor_ChecksEmbeddings(t *testing.T) {
	t.Parallel()
	answers := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			asked, _ := io.ReadAll(r.Body)
			if r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer key" || !strings.Contains(string(asked), `"small"`) {
				t.Errorf("%s %q: %s", r.URL, r.Header, asked)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc // nil: nothing listens
		egress string
		want   string
	}{
		"vectors":      {answers(http.StatusOK, `{"data":[{"index":0,"embedding":[1,0,2]}]}`), "local", `OK       embeddings     127\.0\.0\.1:\d+ answers with vectors of 3 dimensions`},
		"wrong key":    {answers(http.StatusUnauthorized, "key"), "local", `PROBLEM  embeddings     127\.0\.0\.1:\d+ doesn't answer with vectors \(.*status 401\)\.`},
		"another page": {answers(http.StatusOK, "<html>"), "local", `PROBLEM  embeddings     127\.0\.0\.1:\d+ doesn't answer with vectors \(.*not a list of embeddings\)\.`},
		"no server":    {nil, "local", `PROBLEM  embeddings     127\.0\.0\.1:\d+ can't be reached \(.*refused\)\.`},
		"no egress":    {answers(http.StatusOK, ""), "public", `PROBLEM  embeddings     .*Allow it with PATCHBAY_EGRESS_ALLOW, or fix PATCHBAY_EMBEDDINGS_URL\.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(c.answer)
			if c.answer == nil {
				s.Close()
			}
			defer s.Close()
			server, err := config.ServerFlags{EmbedURL: s.URL + "/v1", EmbedModel: "small", EmbedKey: "key", Egress: c.egress}.Check()
			if err != nil {
				t.Fatal(err)
			}
			wantFinding(t, func(e *report) { e.checkEmbeddings(t.Context(), server) }, c.want)
		})
	}
	var said strings.Builder
	if (&report{out: &said}).checkEmbeddings(t.Context(), config.Server{}); said.Len() > 0 {
		t.Errorf("without an endpoint: %s", &said)
	}
}
