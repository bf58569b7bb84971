package apiserver_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/apiserver"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

const key = `s3/cr+t"&key`

func TestCredential_IsSentInQueryAndCookie(t *testing.T) {
	t.Parallel()
	var uri, cookie string
	session, bindings := openSession(t, func(_ http.ResponseWriter, r *http.Request) {
		uri, cookie = r.URL.RequestURI(), r.Header.Get("Cookie")
	}, func(s *apiserver.Server) {
		s.Credential.Query = []apiserver.Pair{{Name: "api key", Value: key}}
		s.Credential.Cookie = []apiserver.Pair{{Name: "sid", Value: "abc"}}
	})
	binding := strings.Replace(string(bindings["getNote"]), `"parameters":[`, `"parameters":[{"name":"api key","in":"query","value":"theirs"},{"name":"sid","in":"cookie","value":"theirs"},
		{"name":"q","in":"query","value":"1"},{"name":"lang","in":"cookie","value":"de"},`, 1)
	if _, err := session.Call(t.Context(), mcp.Call{Name: "getNote", Arguments: json.RawMessage(`{"id":"1"}`), Meta: json.RawMessage(binding)}); err != nil {
		t.Fatal(err)
	}
	if want := "/v2/notes/1?q=1&api+key=s3%2Fcr%2Bt%22%26key"; uri != want {
		t.Errorf("the request is for %s, want %s", uri, want)
	}
	if cookie != "lang=de; sid=abc" {
		t.Errorf("the cookies are %q", cookie)
	}
}

func TestCredential_StaysAtItsServer(t *testing.T) {
	t.Parallel()
	var got http.Header
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		got.Set("Query", r.URL.RawQuery)
		http.Error(w, "who are you?", http.StatusUnauthorized)
	}))
	t.Cleanup(other.Close)
	var own string
	session, bindings := openSession(t, func(http.ResponseWriter, *http.Request) {}, func(s *apiserver.Server) {
		own = s.Credential.Origin
		s.Credential.Query = []apiserver.Pair{{Name: "key", Value: key}}
		s.Credential.Cookie = []apiserver.Pair{{Name: "sid", Value: "abc"}}
	})
	binding := strings.Replace(string(bindings["getNote"]), strings.TrimSuffix(own, "/"), other.URL, 1)
	answer, err := session.Call(t.Context(), mcp.Call{Name: "getNote", Arguments: json.RawMessage(`{"id":"1"}`), Meta: json.RawMessage(binding)})
	if err != nil || !answer.IsError || !strings.Contains(string(answer.Content), "is for "+own+" only") {
		t.Errorf("the answer is %+v, %v", answer, err)
	}
	if got == nil || got.Get("Authorization")+got.Get("Cookie")+got.Get("Query") != "" {
		t.Errorf("another server got %v", got)
	}
}

func TestCredential_OfAQueryIsNowhereElse(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	session, bindings := openSession(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+r.URL.Query().Get("key")+`"`)
		w.WriteHeader(status)
		text, _ := json.Marshal(r.URL.Query().Get("key"))
		_, _ = io.WriteString(w, `{"self":"`+r.URL.RequestURI()+`","lower":"`+strings.NewReplacer("%2F", "%2f", "%2B", "%2b").Replace(r.URL.RequestURI())+`","key":`+string(text)+`}`)
	}, func(s *apiserver.Server) { s.Credential.Query = []apiserver.Pair{{Name: "key", Value: key}} })
	call := mcp.Call{Name: "getNote", Arguments: json.RawMessage(`{"id":"1"}`), Meta: bindings["getNote"]}
	for _, status = range []int{200, 400, 401, 429} {
		answer, err := session.Call(t.Context(), call)
		text := remoteText(err)
		if err != nil {
			text += err.Error()
		} else {
			text += string(answer.Content) + string(answer.Structured)
		}
		if strings.Contains(text, "s3") || !strings.Contains(text, "redacted") && status != 429 {
			t.Errorf("%d says %s", status, text)
		}
	}
}

func TestCredential_IsNotInErrorsOfTheConnection(t *testing.T) {
	t.Parallel()
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + refused.Addr().String()
	if err := refused.Close(); err != nil {
		t.Fatal(err)
	}
	session, bindings := openSession(t, func(http.ResponseWriter, *http.Request) {}, func(s *apiserver.Server) {
		s.Credential.Query = []apiserver.Pair{{Name: "key", Value: key}}
		s.Credential.Origin = connectors.Origin(address)
	})
	_, before, _ := strings.Cut(string(bindings["getNote"]), `"server":"`)
	server, _, _ := strings.Cut(before, "/v2")
	binding := strings.Replace(string(bindings["getNote"]), server, address, 1)
	_, err = session.Call(t.Context(), mcp.Call{Name: "getNote", Arguments: json.RawMessage(`{"id":"1"}`), Meta: json.RawMessage(binding)})
	if err == nil || strings.Contains(err.Error(), "s3") || strings.Contains(err.Error(), "notes") {
		t.Errorf("the error is %v", err)
	}
}
