package admin_test

import (
	"bufio"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// Too large arguments are shown again with an error: no input is lost, and nothing is sent.
func TestToolTry_TooLargeArgumentsAreShownAgain(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, _, up := d.addAnsweringServer(`{"content":[]}`, trustAgent)
	tool, err := d.Door().Tools().Get(t.Context(), d.addLinear(), "search")
	if err != nil {
		t.Fatal(err)
	}
	b, path := d.signInAsRole(connectors.RoleMember), "/connectors/linear/tools/search/try"
	long := strings.Repeat("long ", 1<<20)
	for way, form := range map[string]url.Values{
		"JSON":     {"as": {"json"}, "json": {`{"q":"` + long + `to the end","limit":7}`}},
		"the form": {"as": {"form"}, "definition": {tool.Hash.String()}, "arg.0": {long + "to the end"}, "arg.1": {"7"}},
	} {
		form.Set("agent", "support")
		p := b.post(path, form)
		if p.Status != http.StatusRequestEntityTooLarge || !p.says("Not sent: arguments are limited to 4 MiB.") {
			t.Errorf("%s: %d", way, p.Status)
		}
		if strings.Count(p.Body, "long ") < 1<<20 || !strings.Contains(p.Body, "to the end") || !strings.Contains(p.Body, "7") {
			t.Errorf("%s: what was typed is not there any more", way)
		}
	}
	b.post(path, url.Values{"agent": {"support"}, "as": {"json"}, "json": {strings.Repeat("x", 17<<20)}}).want(t, http.StatusRequestEntityTooLarge, "larger than 16 MiB")
	if n := len(up.Calls()) - callsBefore(up); n != 0 {
		t.Errorf("%d calls were sent", n)
	}
	b.post(path, url.Values{"agent": {"support"}, "as": {"json"}, "json": {`{"q":"` + strings.Repeat("x", 2<<20) + `"}`}}).want(t, http.StatusOK, "Done")
}

func TestToolTry_TimeoutEndsTheCall(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, _, up := d.addServerWith(searchTool, mcptest.Hang, trustAgent)
	b, path := d.signInAsRole(connectors.RoleMember), "/connectors/linear/tools/search/try"
	form := url.Values{"agent": {"support"}, "as": {"json"}, "json": {`{"q":"a"}`}, "timeout_ms": {"200"}}
	p := b.post(path, form)
	p.want(t, http.StatusOK, "didn't respond within 200 milliseconds", `value="200"`)
	sent := len(up.Calls())
	for _, wrong := range []string{"0", "-1", "300001", "soon"} {
		form.Set("timeout_ms", "custom")
		form.Set("timeout_ms_number", wrong)
		form.Set("timeout_ms_unit", "1")
		b.post(path, form).want(t, http.StatusUnprocessableEntity, "Must be 1 ms to 5 minutes.", `value="`+wrong+`"`)
	}
	if n := len(up.Calls()) - sent; n != 0 {
		t.Errorf("%d calls were sent with a wrong timeout", n)
	}
}

// A value that breaks a rule of the schema is named at its field, with the rule in the form and the table.
func TestToolTry_ConstraintErrorStandsAtItsField(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	const raw = `{"name":"search","inputSchema":{"type":"object","properties":{"title":{"type":"string","minLength":3,"maxLength":200},
		"filter":{"type":"object","properties":{"labels":{"type":"array","items":{"type":"string"},"maxItems":2}}}},"required":["title"]}}`
	d.addServerWith(raw, mcptest.Hang, trustAgent)
	b, path := d.signInAsRole(connectors.RoleMember), "/connectors/linear/tools/search"
	p := b.get(path)
	p.want(t, http.StatusOK, "3–200 characters", "at most 2 items")
	tool, err := d.Door().Tools().Get(t.Context(), d.addLinear(), "search")
	if err != nil {
		t.Fatal(err)
	}
	p = b.post(path+"/try", url.Values{"agent": {"support"}, "as": {"form"}, "definition": {tool.Hash.String()}, "arg.0": {"ab"}})
	p.want(t, http.StatusUnprocessableEntity, `The argument "title" must have at least 3 characters.`, `value="ab"`)
	if !strings.Contains(p.Body, `id="try-arg.0-error"`) {
		t.Error("the error is not at the field")
	}
}

// A trial that waits for approval is followed for minutes, but not after a sign-out.
func TestToolTry_StreamEndsWithTheSession(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.addAnsweringServer(`{"content":[{"type":"text","text":"the result"}]}`)
	b, path := d.signInAsRole(connectors.RoleMember), "/connectors/linear/tools/search/try"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+path, strings.NewReader(url.Values{"agent": {"support"}, "as": {"json"}, "json": {`{"q":"a"}`}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": b.base, "HX-Request": "true", "Accept": "text/html, text/event-stream"} {
		r.Header.Set(name, value)
	}
	response, err := b.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	events := &eventReader{t: t, lines: bufio.NewScanner(response.Body), body: response.Body}
	events.until("Open approval")
	b.post("/logout", nil)
	d.ahead.Add(int64(2 * time.Second))
	approval := d.waitingApproval()
	d.signInAsRole(connectors.RoleMember).submit("/approvals/"+approval.ID.String()+"/approve", nil)
	for event := events.next(); event != ""; event = events.next() {
		if strings.Contains(event, "the result") {
			t.Errorf("the result is sent after the sign-out: %s", event)
		}
	}
}
