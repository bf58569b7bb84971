package oauthtest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/testing/testclient"
)

func call(t *testing.T, target, token, method string) (status int, challenge string) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(`{"method":"`+method+`"}`))
	req.RequestURI = ""
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := testclient.New(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, resp.Header.Get("WWW-Authenticate")
}

// machineToken is a valid token without a person.
func machineToken(t *testing.T, as *oauthtest.Server, scope string) string {
	t.Helper()
	as.AddClient("machine", "secret", nil)
	resp, err := testclient.New(t).PostForm(as.Issuer+"/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {"machine"}, "client_secret": {"secret"}, "scope": {scope},
	})
	if err != nil {
		t.Error(err)
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%d %s %v", resp.StatusCode, body, err)
		return ""
	}
	issued := as.Issued()
	return issued[len(issued)-1]
}

func TestChallenges(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{Scope: "read"})
	for challenge, want := range map[oauthtest.Challenge]string{
		oauthtest.WithMetadata: `Bearer resource_metadata="` + mcp.MetadataURL() + `", scope="read"`,
		oauthtest.Bare:         "Bearer",
		oauthtest.NoChallenge:  "",
		oauthtest.NotBearer:    `Basic realm="mcp"`,
	} {
		mcp.Set(func(b *oauthtest.ResourceBehaviour) { b.Challenge = challenge })
		if status, got := call(t, mcp.URL, "", "tools/list"); status != http.StatusUnauthorized || got != want {
			t.Errorf("challenge %d: %d %q, want %q", challenge, status, got, want)
		}
	}
	if mcp.Refused() != 4 {
		t.Errorf("refused %d times", mcp.Refused())
	}
}

func TestWhichCallsNeedAToken(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{
		OpenMethods: []string{"tools/list"}, StepUp: map[string]string{"tools/call": "write"},
	})
	reader, writer := machineToken(t, as, "read"), machineToken(t, as, "read write")
	var got []int
	try := func(token, method string) {
		status, _ := call(t, mcp.URL, token, method)
		got = append(got, status)
	}
	try("", "tools/list")
	try("", "tools/call")
	try(reader, "tools/call")
	try(writer, "tools/call")
	as.ExpireAccess()
	try(writer, "tools/call")
	writer = machineToken(t, as, "write")
	try(writer, "tools/call")
	mcp.Set(func(b *oauthtest.ResourceBehaviour) { b.RefuseAll = true })
	try(writer, "tools/call")
	if diff := cmp.Diff([]int{200, 401, 403, 200, 401, 200, 401}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if tokens := mcp.Tokens(); tokens[0] != "" || tokens[2] != reader {
		t.Errorf("tokens %q", tokens)
	}
}

func TestHeldRequestsAreCountedBeforeTheyAreAnswered(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	as := oauthtest.Start(t, oauthtest.Behaviour{Hold: hold})
	done := make(chan string)
	go func() { done <- machineToken(t, as, "") }()
	select {
	case <-as.Arrived(oauthtest.ClientCredentials):
	case <-done:
		t.Fatal("answered while held")
	}
	close(hold)
	if _, ok := as.Accepts(<-done); !ok {
		t.Error("the token is not good")
	}
}
