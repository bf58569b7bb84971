package ctl

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestBody_SecretMustNotBeArgument(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"auth": {"type": "bearer", "token": "x"}}`: "other users of this machine can read",
		`{"email": "a@b.example", "password": "x"}`:  "other users of this machine can read",
		`[{"env": {"A": "x"}}]`:                      "other users of this machine can read",
		`{"name": "Chat"}`:                           "",
		`{"auth": {"type": "none", "token": null}}`:  "",
		`{`: "not valid JSON",
		`-`: "",
	} {
		s := &session{world: World{In: strings.NewReader(`{"auth": {"token": "x"}}`)}}
		_, err := apiCommand{Method: http.MethodPost, Path: "connectors", Body: body}.readBody(s)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	for _, c := range []apiCommand{{Method: http.MethodGet, Body: "{}"}, {Method: http.MethodPost, Paginate: true}} {
		if _, err := c.readBody(&session{}); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

func TestResponse_RawForProgramsIndentedForPeople(t *testing.T) {
	t.Parallel()
	const came = "{\"b\":\"\u202e\",\"a\":12345678901234567890}\n"
	for format, want := range map[string]string{
		"table": came,
		"json":  "{\n  \"b\": \"\\u202e\",\n  \"a\": 12345678901234567890\n}\n",
	} {
		var out bytes.Buffer
		s := &session{flags: Flags{Output: format}, world: World{Out: &out}}
		if err := s.printResponse([]byte(came)); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v", format, out.String(), err)
		}
		if err := s.printResponse(nil); err != nil || out.String() != want {
			t.Errorf("no answer is shown as %q, %v", out.String(), err)
		}
	}
}

func TestCompletion_OfAPIPaths(t *testing.T) {
	t.Parallel()
	type completed struct {
		method, written, has, names string
	}
	for _, c := range []completed{
		{"POST", "", "invitations", ""},
		{"POST", "webh", "webhooks/{id}/test", ""},
		{"POST", "regi", "registries/{id}/rotate_address", ""},
		{"GET", "/api/v1/aud", "/api/v1/audit_events", ""},
		{"GET", "connectors/", "", "connector"},
		{"PUT", "agents/helper/connectors/d", "", "connector"},
		{"POST", "connectors/dev/sy", "connectors/dev/sync_tools", ""},
		{"PATCH", "agents/h", "", "agent"},
	} {
		words, names := pathWords(c.method, c.written)
		words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, c.written) })
		if c.has != "" && !slices.Contains(words, c.has) || names != c.names && c.names != "" {
			t.Errorf("%s %q: %v of %q", c.method, c.written, words, names)
		}
	}
	if words, _ := pathWords("DELETE", "audit"); slices.Contains(words, "audit_events") {
		t.Error("the audit log is offered to be deleted")
	}
}
