package gateway_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/secret"
)

func TestUnknownTokens_AreLimitedPerAddress(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	b.Grant(t, agent.ID, b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").url).ID)
	known, unseen := bearerHeader(b.Token(t, agent.ID)), bearerHeader(b.Token(t, agent.ID))
	ask := func(authorization string) answer {
		t.Helper()
		return post(t, b.url+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`, "Authorization", authorization)
	}
	if got := ask(known); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	var last answer
	for range 70 {
		last = ask(bearerHeader(secret.NewBearer(secret.AgentBearer, uuid.New()).Text()))
	}
	if after, err := strconv.Atoi(last.header.Get("Retry-After")); last.status != http.StatusTooManyRequests || err != nil || after < 1 {
		t.Errorf("%d %v %s", last.status, last.header, last.body)
	}
	if got := ask(unseen); got.status != http.StatusTooManyRequests {
		t.Errorf("another token that is not in memory: %d", got.status)
	}
	if got := ask(known); got.status != http.StatusOK {
		t.Errorf("the token that is: %d", got.status)
	}
	if got := ask(""); got.status != http.StatusUnauthorized {
		t.Errorf("no token: %d", got.status)
	}
}
