package agentview_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/embeddings"
	"patchbay/internal/safe"
	"patchbay/internal/testing/paniclog"
	"patchbay/internal/toolsearch"
)

// embeddingEndpoint answers with vectors of two dimensions: near to each other are texts that have the same animal.
type embeddingEndpoint struct {
	*httptest.Server
	tools  atomic.Int64 // embedded
	asked  atomic.Int64 // questions
	fails  atomic.Bool
	silent atomic.Bool

	refused  atomic.Pointer[string] // a word of texts that are refused; nil: none
	refusals atomic.Int64
	end      chan struct{}
}

func newEmbeddingEndpoint(t *testing.T) *embeddingEndpoint {
	t.Helper()
	e := &embeddingEndpoint{end: make(chan struct{})}
	e.Server = httptest.NewServer(http.HandlerFunc(e.answer))
	t.Cleanup(e.Close)
	t.Cleanup(sync.OnceFunc(func() { close(e.end) }))
	return e
}

func (e *embeddingEndpoint) answer(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Input []string }
	body, _ := io.ReadAll(r.Body)
	if e.silent.Load() {
		select {
		case <-e.end:
		case <-r.Context().Done():
		}
		return
	}
	if refused := e.refused.Load(); refused != nil && strings.Contains(string(body), *refused) {
		e.refusals.Add(1)
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	if e.fails.Load() || json.Unmarshal(body, &asked) != nil {
		http.Error(w, "no", http.StatusInternalServerError)
		return
	}
	type item struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var answer struct {
		Data []item `json:"data"`
	}
	for i, text := range asked.Input {
		if text == felineQuestion {
			e.asked.Add(1)
		} else {
			e.tools.Add(1)
		}
		vector := []float32{1, 0}
		if strings.Contains(text, "feline") || strings.Contains(text, "note_002") {
			vector = []float32{0, 1}
		}
		answer.Data = append(answer.Data, item{i, vector})
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (e *embeddingEndpoint) client(model string) *embeddings.Client {
	return embeddings.New(embeddings.Options{HTTP: e.Client(), URL: e.URL, Model: model})
}

// felineQuestion has a word of all tools, and the meaning of note_002.
const felineQuestion = "note about a feline"

func findFeline(t *testing.T, v *agentview.View) agentview.FoundTool {
	t.Helper()
	found, err := v.FindTools(t.Context(), agentview.ToolSearch{Words: felineQuestion, Limit: 3})
	if err != nil || len(found) != 3 {
		t.Fatalf("found %v, %v", found, err)
	}
	return found[0]
}

func isSimilar(f agentview.FoundTool) bool {
	return slices.ContainsFunc(f.Reasons, func(r toolsearch.Reason) bool { return r.Field == toolsearch.FieldMeaning })
}

// wantByMeaning waits until a search goes by meaning: a slow answer of the endpoint is not waited for.
func (b *testEnv) wantByMeaning(t *testing.T, v *agentview.View) {
	t.Helper()
	var first agentview.FoundTool
	eventually(t, "the vectors are used", func() bool {
		first = findFeline(t, v)
		return isSimilar(first)
	})
	if first.Name != "note_002" {
		t.Errorf("by meaning first is %s", first.Name)
	}
}

func TestVectors_RankByMeaning(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	endpoint := newEmbeddingEndpoint(t)
	b.cache = newConnectedCache(t, b.St, agentview.Options{Embeddings: endpoint.client("one")})
	agent := b.newNoteAgent(t, b.Tenant, 100)
	v := viewIn(t, b.cache, b.Tenant, agent.ID)
	if first := findFeline(t, v); first.Name != "note_000" || isSimilar(first) {
		t.Errorf("without vectors first is %s", first.Name)
	}
	b.wantByMeaning(t, v)
	other := b.Connector(t)
	b.Grant(t, agent.ID, other.ID)
	if found, err := v.FindTools(t.Context(), agentview.ToolSearch{Words: felineQuestion, Limit: 3, Connector: &agentview.ConnectorView{Connector: other}}); err != nil || len(found) != 0 {
		t.Errorf("in a connector without tools it finds %d, %v", len(found), err)
	}
	endpoint.silent.Store(true)
	if first := findFeline(t, v); first.Name != "note_000" || isSimilar(first) {
		t.Errorf("while the endpoint is silent first is %s", first.Name)
	}
	endpoint.silent.Store(false)
	endpoint.fails.Store(true)
	if first := findFeline(t, v); first.Name != "note_000" {
		t.Errorf("while the endpoint fails first is %s", first.Name)
	}
	endpoint.fails.Store(false)

	restarted := newConnectedCache(t, b.openOtherStore(t), agentview.Options{Embeddings: endpoint.client("one")})
	b.wantByMeaning(t, viewIn(t, restarted, b.Tenant, agent.ID))
	if embedded := endpoint.tools.Load(); embedded != 100 {
		t.Errorf("%d tools were embedded", embedded)
	}
}

// TestVectors_OneToolIsRefused has a tool with a description that the endpoint refuses, and then an endpoint that refuses all.
func TestVectors_OneToolIsRefused(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	endpoint := newEmbeddingEndpoint(t)
	agent := b.newNoteAgent(t, b.Tenant, 100)
	refused := "note_050"
	endpoint.refused.Store(&refused)
	b.cache = newConnectedCache(t, b.St, agentview.Options{Embeddings: endpoint.client("one")})
	b.wantByMeaning(t, viewIn(t, b.cache, b.Tenant, agent.ID))
	if embedded, stored, refusals := endpoint.tools.Load(), b.Count(t, "tool_vectors"), endpoint.refusals.Load(); embedded != 99 || stored != 99 || refusals > 8 {
		t.Errorf("%d tools were embedded, %d are stored, %d requests were refused", embedded, stored, refusals)
	}

	all := "note"
	endpoint.refused.Store(&all)
	endpoint.refusals.Store(0)
	logged := make(logLines, 100)
	other := newConnectedCache(t, b.St, agentview.Options{Embeddings: endpoint.client("two"), Log: slog.New(slog.NewTextHandler(logged, nil))})
	findFeline(t, viewIn(t, other, b.Tenant, agent.ID))
	eventually(t, "the view is given up", func() bool {
		select {
		case line := <-logged:
			return strings.Contains(line, "tools not embedded")
		default:
			return false
		}
	})
	if n := endpoint.refusals.Load(); n != 64+1 {
		t.Errorf("%d requests were refused", n)
	}
}

// TestVectors_ManyToolsAreRefused has more refused tools than requests of one view find: each view finds some.
func TestVectors_ManyToolsAreRefused(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	endpoint := newEmbeddingEndpoint(t)
	agent := b.newNoteAgent(t, b.Tenant, 100)
	refused := `5\n` // at the end of ten names
	endpoint.refused.Store(&refused)
	var later atomic.Int64
	b.cache = newConnectedCache(t, b.St, agentview.Options{Embeddings: endpoint.client("one"), Now: func() time.Time {
		return time.Unix(1_900_000_000+later.Add(1), 0)
	}})
	b.wantByMeaning(t, viewIn(t, b.cache, b.Tenant, agent.ID))
	if n := b.Count(t, "tool_vectors"); n != 90 {
		t.Errorf("%d tools have vectors", n)
	}
}

// logLines receives the lines of a log.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// TestVectors_QuestionsAreBounded searches often in one moment: the endpoint is the operator's, for all tenants.
func TestVectors_QuestionsAreBounded(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	endpoint := newEmbeddingEndpoint(t)
	var later atomic.Int64
	b.cache = newConnectedCache(t, b.St, agentview.Options{Embeddings: endpoint.client("one"), Now: func() time.Time {
		return time.Unix(1_900_000_000+later.Load(), 0)
	}})
	v := viewIn(t, b.cache, b.Tenant, b.newNoteAgent(t, b.Tenant, 100).ID)
	b.wantByMeaning(t, v)
	for range 100 {
		findFeline(t, v)
	}
	const burst = 30
	if asked := endpoint.asked.Load(); asked != burst {
		t.Errorf("the endpoint was asked %d times", asked)
	}
	later.Add(10)
	b.wantByMeaning(t, v)
}

func TestVectors_OfAnotherModelReplaceThem(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	endpoint := newEmbeddingEndpoint(t)
	agent := b.newNoteAgent(t, b.Tenant, 3)
	for _, model := range []string{"one", "two"} {
		cache := newConnectedCache(t, b.St, agentview.Options{Embeddings: endpoint.client(model)})
		v := viewIn(t, cache, b.Tenant, agent.ID)
		b.wantByMeaning(t, v)
		var models string
		b.AsSystem(t, "select string_agg(distinct model, ' ') from tool_vectors", nil, &models)
		if n := b.Count(t, "tool_vectors"); n != 3 || models != model {
			t.Errorf("%d vectors of %q", n, models)
		}
	}
}

// The loop panics that makes vectors.
func TestVectors_PanicLosesAView(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	b := newTestEnv(t)
	cache := newConnectedCache(t, b.St, agentview.Options{Embeddings: newEmbeddingEndpoint(t).client("one")})
	agent := b.newNoteAgent(t, b.Tenant, 3)
	waitForPanic := b.PanicBelow(t, "(*embedder).runLoop", 1)
	findFeline(t, viewIn(t, cache, b.Tenant, agent.ID))
	waitForPanic()
	b.wantByMeaning(t, viewIn(t, cache, b.Tenant, agent.ID)) // the next view gets its vectors
	panics.Want(t, safe.Background, "(*embedder).runLoop")
}
