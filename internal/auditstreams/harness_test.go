package auditstreams_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"

	"patchbay/internal/auditstreams"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// maxWait bounds every wait.
const maxWait = 30 * time.Second

// streamTest is a world with a service that looks often, and retries at once.
type streamTest struct {
	*fixture.World
	service   *auditstreams.Service
	log       *syncBuffer
	admin     auth.Actor
	agent     connectors.Agent
	connector connectors.Connector
	wait      atomic.Int64 // pause after a failure
	paused    atomic.Int64 // the pauses that processes would have made by the real clock, in all
}

func newStreamTest(t *testing.T) *streamTest {
	t.Helper()
	w := &streamTest{World: fixture.New(t), log: &syncBuffer{}}
	w.agent, w.connector = w.Agent(t), w.Connector(t)
	w.wait.Store(int64(5 * time.Millisecond))
	self, err := w.Door().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.admin = auth.Actor{Kind: auth.KindPerson, Tenant: self, Role: connectors.RoleAdmin, Name: "Ann"}
	w.service = w.newService(w.St)
	return w
}

func (w *streamTest) newService(st *store.Store, opts ...func(*auditstreams.Options)) *auditstreams.Service {
	o := auditstreams.Options{
		Store: st, Egress: safehttp.New(safehttp.Options{Mode: safehttp.Local, UserAgent: "Patchbay/test"}), Host: "patchbay.example.com", Version: "test",
		Log:      slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Interval: 10 * time.Millisecond, Timeout: 10 * time.Second,
	}
	o.Jitter = func(pause time.Duration) time.Duration {
		w.paused.Add(int64(pause))
		return time.Duration(w.wait.Load())
	}
	for _, opt := range opts {
		opt(&o)
	}
	return auditstreams.New(o)
}

// start runs a service until the test ends.
func start(t *testing.T, s *auditstreams.Service) {
	t.Helper()
	s.Start(t.Context())
	t.Cleanup(func() { s.Stop(context.Background()) })
}

func (w *streamTest) create(t *testing.T, s connectors.AuditStream) connectors.AuditStream {
	t.Helper()
	made, err := w.service.Create(t.Context(), w.admin, s, "Bearer planted-secret")
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func httpsStream(url string) connectors.AuditStream {
	return connectors.AuditStream{Name: "SIEM", Kind: connectors.StreamHTTPS, URL: url}
}

// endCall ends one call of the tenant.
func (w *streamTest) endCall(t testing.TB, tool string) {
	t.Helper()
	at := time.Now()
	err := w.St.System().Calls().EndCalls(t.Context(), []store.OwnedCall{{Tenant: w.Tenant, ToolCall: connectors.ToolCall{
		ID: connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}, AgentID: &w.agent.ID, AgentSlug: w.agent.Slug, ConnectorID: &w.connector.ID, ConnectorSlug: w.connector.Slug,
		Kind: connectors.CallTool, Tool: tool, ExposedName: tool, Source: connectors.SourceGateway, Status: connectors.CallSuccess, Outcome: connectors.OutcomeOK,
		Arguments: []byte(`{"planted":"argument"}`), StartedAt: at, CompletedAt: &at,
	}}})
	if err != nil {
		t.Error(err)
	}
}

// record adds an audit entry.
func (w *streamTest) record(t testing.TB, action, target string) {
	t.Helper()
	if err := w.Door().Audit().Record(t.Context(), store.Event{ActorType: "person", ActorName: "Ann", Action: action, Target: target, IP: "203.0.113.9"}); err != nil {
		t.Error(err)
	}
}

func (w *streamTest) get(t testing.TB, id connectors.AuditStreamID) connectors.AuditStream {
	t.Helper()
	s, err := w.Door().AuditStreams().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// waitFor waits until a condition holds.
func waitFor(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(maxWait)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("waited %v for %s", maxWait, what)
		case <-tick.C:
		}
	}
}

// waitDelivered waits until nothing is undelivered.
func (w *streamTest) waitDelivered(t testing.TB, id connectors.AuditStreamID) {
	t.Helper()
	waitFor(t, "the stream to deliver everything", func() bool { return w.get(t, id).Behind() == 0 })
}

// received is one event at a receiver.
type received struct {
	ClassUID int `json:"class_uid"`
	Message  string
	StatusID int `json:"status_id"`
	Metadata struct {
		UID      string
		Sequence int64
		LogName  string `json:"log_name"`
		Tenant   string `json:"tenant_uid"`
	}
	Unmapped struct {
		Patchbay struct {
			Action string
			Chain  *struct {
				Name         string
				N, Index, Of int64
				Hash         string
				PreviousHash string `json:"previous_hash"`
			}
			Gap *struct {
				Chain    string
				From, To int64
			}
		}
	}
	raw []byte
}

// receiver is an HTTPS receiver that accepts while status is 0.
type receiver struct {
	*httptest.Server
	status    atomic.Int64
	maxEvents atomic.Int64 // a larger batch is answered 413; 0: no limit
	mu        sync.Mutex
	events    []received    // guarded by mu; accepted
	headers   []http.Header // guarded by mu
	tries     int           // guarded by mu
	sizes     []int         // guarded by mu; of all batches, in events
	// accepted is called after a batch is taken and before the answer; nil: not.
	accepted func()
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return // the sender died
		}
		r.mu.Lock()
		r.tries++
		r.headers = append(r.headers, q.Header.Clone())
		status, batch := int(r.status.Load()), parseEvents(t, q.Header.Get("Content-Type"), body)
		r.sizes = append(r.sizes, len(batch))
		if limit := int(r.maxEvents.Load()); limit > 0 && len(batch) > limit {
			status = http.StatusRequestEntityTooLarge
		}
		if status == 0 {
			r.events = append(r.events, batch...)
		}
		r.mu.Unlock()
		if status != 0 {
			w.WriteHeader(status)
			return
		}
		if r.accepted != nil {
			r.accepted()
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func parseEvents(t *testing.T, contentType string, body []byte) (events []received) {
	t.Helper()
	var raws []json.RawMessage
	if contentType == "application/json" {
		if err := json.Unmarshal(body, &raws); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	} else {
		lines := bufio.NewScanner(bytes.NewReader(body))
		lines.Buffer(nil, 8<<20)
		for lines.Scan() {
			raws = append(raws, bytes.Clone(lines.Bytes()))
		}
	}
	for _, raw := range raws {
		events = append(events, parseEvent(t, raw))
	}
	return events
}

func parseEvent(t *testing.T, raw []byte) (e received) {
	t.Helper()
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Errorf("%s: %v", raw, err)
	}
	e.raw = raw
	return e
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received{}, r.events...)
}

func (r *receiver) allSizes() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]int{}, r.sizes...)
}

func (r *receiver) countTries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tries
}

// wantChains checks that events of each chain are numbered from a position to another without a gap or a double, and that
// each link follows the hash of the one before.
func wantChains(t *testing.T, events []received, from, to connectors.AuditCursor) {
	t.Helper()
	next := map[string]int64{store.ChainAudit: from.AuditN + 1, store.ChainCalls: from.CallsRecord + 1}
	link, hash, left := map[string]int64{}, map[string]string{}, map[string]int64{} // left: records of the link that follow
	for _, e := range events {
		log, chain := e.Metadata.LogName, e.Unmapped.Patchbay.Chain
		if e.Metadata.Sequence != next[log] {
			t.Fatalf("%s has %d, want %d", log, e.Metadata.Sequence, next[log])
		}
		next[log]++
		if chain == nil || chain.Name != log {
			t.Fatalf("no chain: %s", e.raw)
		}
		if before := link[log]; before > 0 && chain.N != before && (chain.N != before+1 || chain.PreviousHash != hash[log] || chain.Index != 1) {
			t.Fatalf("%s: link %d does not follow %d", log, chain.N, before)
		}
		if before := link[log]; before > 0 && chain.N == before && left[log] != chain.Of-chain.Index+1 || before > 0 && chain.N != before && left[log] != 0 {
			t.Fatalf("%s: record %d of %d of link %d, after one with %d left of link %d", log, chain.Index, chain.Of, chain.N, left[log], before)
		}
		link[log], hash[log], left[log] = chain.N, chain.Hash, chain.Of-chain.Index
	}
	if left[store.ChainAudit] != 0 || left[store.ChainCalls] != 0 {
		t.Errorf("ends within a link: %v", left)
	}
	if next[store.ChainAudit] != to.AuditN+1 || next[store.ChainCalls] != to.CallsRecord+1 {
		t.Errorf("ends before %v, want %d and %d", next, to.AuditN, to.CallsRecord)
	}
}

// wantOCSF validates events against the schema.
func wantOCSF(t *testing.T, events []received) {
	t.Helper()
	raw, err := os.ReadFile("testdata/ocsf.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schema := &jsonschema.Schema{}
	if err := json.Unmarshal(raw, schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		var value map[string]any
		if err := json.Unmarshal(e.raw, &value); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(value); err != nil {
			t.Errorf("%s: %v", e.raw, err)
		}
		if class, _ := value["class_uid"].(float64); value["type_uid"] != class*100+value["activity_id"].(float64) {
			t.Errorf("type_uid of %s", e.raw)
		}
	}
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
