package churn

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// reply is a response of a fake Patchbay.
type reply struct {
	status    int // 0: the connection is closed without a response
	mediaType string
	body      string
	header    http.Header
}

// ServeHTTP sends the response.
func (p reply) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if p.status == 0 {
		panic(http.ErrAbortHandler)
	}
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", p.mediaType)
	w.WriteHeader(p.status)
	_, _ = io.WriteString(w, p.body)
}

func newResult(result string) reply {
	return reply{status: 200, mediaType: "application/json", body: `{"jsonrpc":"2.0","id":1,"result":` + result + `}`}
}

func newError(status, code int) reply {
	return reply{status: status, mediaType: "application/json", body: fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"no"}}`, code)}
}

// What agents and admins do in TestLoad_CountsFaults. The slot's connector is granted to the agent.
var (
	callsTool    = func(ctx context.Context, a *loadAgent, s *slot) { a.callTool(ctx, s) }
	listsPrompts = func(ctx context.Context, a *loadAgent, _ *slot) { a.requestList(ctx, promptList) }
	listsOwn     = func(ctx context.Context, a *loadAgent, s *slot) { a.requestOwnList(ctx, toolList, s) }
	deletes      = func(ctx context.Context, a *loadAgent, s *slot) {
		a.runAction(ctx, actKind{name: "delete", run: (*Load).deleteConnector}, s)
	}
	beginsSession = func(ctx context.Context, a *loadAgent, s *slot) {
		a.modern = false
		a.callTool(ctx, s)
	}
	callsInSession = func(ctx context.Context, a *loadAgent, s *slot) {
		a.modern, a.sessions[""] = false, "x"
		a.callTool(ctx, s)
	}
	doesNothing = func(_ context.Context, a *loadAgent, _ *slot) { a.checkCounts(time.Minute) }
)

// faultCase is a request, the response of a fake Patchbay, and the fault that counts.
type faultCase struct {
	do     func(context.Context, *loadAgent, *slot)
	answer reply
	fault  string // empty: none
	always bool   // also during an outage
}

var faultCases = map[string]faultCase{
	"a call with its result":                {do: callsTool, answer: newResult(`{"content":[{"type":"text","text":"s0- base 1"}]}`)},
	"a call with another call's result":     {do: callsTool, answer: newResult(`{"content":[{"type":"text","text":"s0- base 2"}]}`), fault: FailedCall},
	"a call with an error":                  {do: callsTool, answer: newError(200, -32602), fault: FailedCall},
	"a call with a refused token":           {do: callsTool, answer: reply{status: 401, mediaType: "application/problem+json", body: `{}`}, fault: FailedCall},
	"a call with an empty body":             {do: callsTool, answer: reply{status: 200, mediaType: "application/json"}, fault: FailedCall},
	"a call with an internal error":         {do: callsTool, answer: newError(200, internalError), fault: Internal, always: true},
	"a call with 500":                       {do: callsTool, answer: newError(500, internalError), fault: Internal, always: true},
	"a call with 503":                       {do: callsTool, answer: newError(503, -32000), fault: Internal},
	"a call without a response":             {do: callsTool, fault: LostRequest},
	"a call with half a response":           {do: callsTool, answer: reply{status: 200, mediaType: "application/json", body: `{"result":`}, fault: LostRequest},
	"initialize without a session":          {do: beginsSession, answer: newResult(`{}`), fault: LostRequest},
	"a session that is unknown":             {do: callsInSession, answer: newError(404, -32600), fault: LostRequest},
	"a list with its entries":               {do: listsPrompts, answer: newResult(`{"prompts":[{"name":"mcp_s0-1__base","description":"Version 0."}]}`)},
	"a list without its entries":            {do: listsPrompts, answer: newResult(`{"prompts":[]}`), fault: WrongList, always: true},
	"a list with an entry twice":            {do: listsPrompts, answer: newResult(`{"prompts":[{"name":"mcp_s0-1__base","description":"Version 0."},{"name":"mcp_s0-1__base","description":"Version 0."}]}`), fault: WrongList, always: true},
	"a result without a list":               {do: listsPrompts, answer: newResult(`{}`), fault: WrongList, always: true},
	"a list with an error":                  {do: listsPrompts, answer: newError(200, -32602), fault: WrongList},
	"an own list with its entries":          {do: listsOwn, answer: newResult(`{"tools":[{"name":"base","description":"Version 0."}]}`)},
	"an own list without its entries":       {do: listsOwn, answer: newResult(`{"tools":[]}`), fault: WrongList, always: true},
	"an own list of a connector that is no": {do: listsOwn, answer: reply{status: 404, mediaType: "application/problem+json", body: `{}`}, fault: WrongList, always: true},
	"an act that succeeds":                  {do: deletes, answer: reply{status: 204}},
	"an act that is refused":                {do: deletes, answer: reply{status: 409, mediaType: "application/problem+json", body: `{}`}, fault: RefusedAct, always: true},
	"an act without a response":             {do: deletes, fault: RefusedAct},
	"an act with 500":                       {do: deletes, answer: reply{status: 500}, fault: Internal, always: true},
	"nothing":                               {do: doesNothing, fault: TooFew, always: true},
}

func TestLoad_CountsFaults(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for name, tc := range faultCases {
		covered[tc.fault] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.check(t, nil, tc.fault != "")
			var o Outages
			o.Begin()
			tc.check(t, &o, tc.always)
			o.End(time.Now().Add(time.Hour)) // recovery
			tc.check(t, &o, tc.always)
			o.End(time.Now().Add(-time.Hour))
			tc.check(t, &o, tc.fault != "")
		})
	}
	for _, kind := range Kinds {
		if !covered[kind] {
			t.Errorf("no case counts %q", kind)
		}
	}
}

// check does once what the case says, and compares the counts.
func (tc faultCase) check(t *testing.T, o *Outages, counted bool) {
	t.Helper()
	answers := httptest.NewServer(tc.answer)
	defer answers.Close()
	l := newTestLoad(t, Options{Base: answers.URL, Outages: o})
	l.client = answers.Client()
	s := l.newSlot()
	s.beginAction(granted())
	s.endAction()
	tc.do(t.Context(), &loadAgent{Load: l, modern: true, sessions: map[string]string{}}, s)
	if has := l.report.Wrong[tc.fault] > 0; has != counted {
		t.Errorf("with outages %+v %q was counted: %t, want %t: %v", o, tc.fault, has, counted, l.report.Faults)
	}
	if !counted && len(l.report.Wrong) > 0 {
		t.Errorf("with outages %+v there are faults: %v", o, l.report.Faults)
	}
}

// A call is judged outside outages only.
func TestLoad_CountsJudgedCalls(t *testing.T) {
	t.Parallel()
	for want, o := range []*Outages{new(Outages), nil} {
		if want == 0 {
			o.Begin()
		}
		answers := httptest.NewServer(newResult(`{"content":[{"type":"text","text":"s0- base 1"}]}`))
		l := newTestLoad(t, Options{Base: answers.URL, Outages: o})
		l.client = answers.Client()
		s := l.newSlot()
		s.beginAction(granted())
		s.endAction()
		(&loadAgent{Load: l, modern: true}).callTool(t.Context(), s)
		if r := l.report; r.Calls != 1 || r.JudgedCalls != want {
			t.Errorf("%d calls, %d judged, want %d", r.Calls, r.JudgedCalls, want)
		}
		answers.Close()
	}
}

// A run that does as many of each kind as it must passes, and one less of any kind fails.
func TestLoad_RequiresEachKind(t *testing.T) {
	t.Parallel()
	const length = time.Minute
	counts := func(less string) []string {
		l := &Load{report: newReport()}
		for _, kind := range ActKinds() {
			l.report.Acts[kind] = 4 * minActs
		}
		for _, kind := range ListKinds() {
			l.report.Lists[kind] = 4 * minLists
		}
		l.report.JudgedCalls = 4 * minCalls
		for _, number := range []map[string]int{l.report.Acts, l.report.Lists} {
			if number[less] > 0 {
				number[less]--
			}
		}
		if less == "judged calls" {
			l.report.JudgedCalls--
		}
		l.checkCounts(length)
		return l.report.Faults
	}
	if faults := counts(""); len(faults) > 0 {
		t.Errorf("enough of each is too few: %v", faults)
	}
	for _, kind := range slices.Concat(ActKinds(), ListKinds(), []string{"judged calls"}) {
		if faults := counts(kind); len(faults) != 1 || !strings.Contains(faults[0], kind+": ") {
			t.Errorf("one of %q less: %v", kind, faults)
		}
	}
}

// An admin has an action in each state, and kinds that have not succeeded go first.
func TestChooseAction_PrefersUntriedKinds(t *testing.T) {
	t.Parallel()
	l := &Load{report: newReport()}
	held := granted()
	held.tools[base] = tool{"0", "1"}
	disabled := granted()
	disabled.enabled = false
	unused := granted()
	unused.grants = nil
	for _, current := range []connectorState{{}, {exists: true, enabled: true}, unused, disabled, held} {
		for range actKinds {
			k := l.chooseAction(current)
			if !k.allowed(current) {
				t.Errorf("%s is not allowed in %+v", k.name, current)
			}
			l.report.Acts[k.name]++
		}
	}
	for _, kind := range ActKinds() {
		if l.report.Acts[kind] == 0 {
			t.Errorf("%s was never chosen", kind)
		}
	}
}

// A sync during an outage may keep the items that were known.
func TestSyncLists_OutageKeepsOldItemsPossible(t *testing.T) {
	t.Parallel()
	answers := httptest.NewServer(newResult(`{}`))
	t.Cleanup(answers.Close)
	var o Outages
	l := newTestLoad(t, Options{Base: answers.URL, Outages: &o})
	l.client = answers.Client()
	s := l.newSlot()
	s.beginAction(granted())
	s.endAction()
	for _, want := range []int{2, 1} {
		if want == 2 {
			o.Begin()
		} else {
			o.End(time.Now().Add(-time.Hour))
		}
		if err := l.changeAndSync(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if items := s.currentState().items; len(items) != want || items[0]["extra1"] != "0" && items[0]["extra2"] != "0" {
			t.Errorf("possible items are %v, want %d", items, want)
		}
	}
}
