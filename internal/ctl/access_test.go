package ctl

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

const accessReply = `{"id": "018f", "agent": "support", "connector": "linear", "tools": ["search"], "reason": "For the report.", "asked_by": "Ada",
	"asked_at": "2026-11-30T08:00:00Z", "until": "2027-01-31T18:00:00Z", "state": "open"}`

// runAccess runs a command of access against an API with a scripted reply.
func runAccess(t *testing.T, reply, line string) (out, request string, err error) {
	t.Helper()
	return runLine(t, reply, "access "+line)
}

// runLine runs a command line against an API with a scripted reply.
func runLine(t *testing.T, reply, line string) (out, request string, err error) {
	t.Helper()
	s, printed, sent := newAPI(t, reply)
	var commands struct {
		Access accessCommands `cmd:""`
		Agents agentCommands  `cmd:""`
		SCIM   scimCommands   `cmd:"" name:"scim"`
	}
	parser, err := kong.New(&commands, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard), kong.Bind(s), kong.BindTo(t.Context(), (*context.Context)(nil)))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.Parse(strings.Fields(line))
	if err != nil {
		return "", "", err
	}
	err = parsed.Run()
	return printed.String(), *sent, err
}

func TestAccess_SendsWhatIsAsked(t *testing.T) {
	t.Parallel()
	const path = " /api/v1/access_requests"
	list := `{"items": [` + accessReply + `], "next_cursor": null}`
	for line, want := range map[string]struct{ reply, request, out string }{
		"list":                                {list, "GET" + path + "?limit=200&state=open", "018f"},
		"list --state any":                    {list, "GET" + path + "?limit=200", "For the report."},
		"get 018f":                            {`{"request": ` + accessReply + `}`, "GET" + path + "/018f", `"asked_by": "Ada"`},
		"ask support linear --all --reason x": {accessReply, "POST" + path + ` {"agent":"support","connector":"linear","reason":"x","tools":"all"}`, "018f\n"},
		"ask support linear --tools search,read --reason x --until 2027-01-31T18:00:00Z": {
			accessReply, "POST" + path + ` {"agent":"support","connector":"linear","reason":"x","tools":["search","read"],"until":"2027-01-31T18:00:00Z"}`, "018f\n",
		},
		"accept 018f --note Fine.": {accessReply, "POST" + path + `/018f/accept {"note":"Fine."}`, "Accepted. support can use linear.\n"},
		"accept 018f --no-end":     {accessReply, "POST" + path + `/018f/accept {"no_end":true,"note":""}`, "Accepted."},
		"accept 018f --until 2027-02-01T00:00:00Z": {
			accessReply, "POST" + path + `/018f/accept {"note":"","until":"2027-02-01T00:00:00Z"}`, "Accepted.",
		},
		"refuse 018f --note No.": {accessReply, "POST" + path + `/018f/refuse {"note":"No."}`, "Refused: support, linear.\n"},
		"withdraw 018f":          {"", "POST" + path + "/018f/withdraw", "Withdrew 018f.\n"},
	} {
		out, request, err := runAccess(t, want.reply, line)
		if err != nil || request != want.request || !strings.Contains(out, want.out) {
			t.Errorf("%s: %q, %v; the API got %s", line, out, err, request)
		}
	}
}

func TestAccess_RefusesUnclearCommands(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"ask support linear --reason x":                     "use --all or --tools",
		"ask support linear --all --tools a --reason x":     "use --all or --tools",
		"ask support linear --all":                          "--reason",
		"ask support linear --all --reason x --for=-1h":     "must be positive",
		"accept 018f --no-end --for 1h":                     "can't be used together",
		"accept 018f --until 2027-02-01T00:00:00Z --for 1h": "can't be used together",
		"list --state other":                                "must be one of",
		"accept 018f --until tomorrow":                      "--until",
		"refuse":                                            "expected",
	} {
		if _, request, err := runAccess(t, accessReply, line); err == nil || !strings.Contains(err.Error(), want) || request != "" {
			t.Errorf("%s: %v, want %q; the API got %s", line, err, want, request)
		}
	}
}

func TestEndFlags_ForIsFromNow(t *testing.T) {
	t.Parallel()
	end, err := endFlags{For: time.Hour}.chosenEnd()
	if err != nil || end == nil || time.Until(*end) > time.Hour || time.Until(*end) < time.Hour-time.Minute {
		t.Errorf("%v, %v", end, err)
	}
}

func TestAgentGrant_SendsItsEnd(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		"":                             `{"tools":"all"}`,
		"--until 2027-01-31T18:00:00Z": `{"ends":{"until":"2027-01-31T18:00:00Z"},"tools":"all"}`,
		"--no-end":                     `{"ends":{},"tools":"all"}`,
	} {
		_, request, err := runLine(t, "", "agents grant support linear --all "+flags)
		if want = "PUT /api/v1/agents/support/connectors/linear " + want; err != nil || request != want {
			t.Errorf("%q: %v; the API got %s", flags, err, request)
		}
	}
	if _, _, err := runLine(t, "", "agents grant support linear --all --for 1h --no-end"); err == nil {
		t.Error("two ends were accepted")
	}
	_, request, err := runLine(t, "", "agents grant support linear --all --for 24h")
	if _, at, _ := strings.Cut(request, `"until":"`); err != nil || len(at) < 19 || at[:10] < time.Now().UTC().Format(time.DateOnly) {
		t.Errorf("in a day: %v; the API got %s", err, request)
	}
}
