//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// echoServer is an authorization server, and MCP servers that echo the subject of the token that they saw. /oauth/… is of
// 2026-07-28 and takes OAuth tokens; /key/… is of 2025-11-25, has sessions and takes static tokens.
type echoServer struct {
	url string

	mu       sync.Mutex           // guards all that follows
	codes    map[string]string    // subjects by authorization code
	used     map[string]int       // the newest refresh token that was presented, by subject
	issued   map[string]int       // the newest refresh token, by subject
	sessions map[string]string    // subjects by session
	tasks    map[string]*echoTask // by id
	seen     map[int][]string     // subjects by call
	wrong    []string             // requests of another subject than that of their session or task
	counts   map[string]int       // of requests, by kind
	hold     chan struct{}        // refreshes wait until it is closed; nil: none does
}

type echoTask struct {
	subject string
	n       int
	polls   int
}

// tokenLife is the life of an access token; it is refreshed after half of it. refreshTime is how long a token request takes.
const (
	tokenLife   = 4 * time.Second
	refreshTime = 60 * time.Millisecond
)

func newEchoServer(t *testing.T) *echoServer {
	t.Helper()
	e := &echoServer{
		codes: map[string]string{}, used: map[string]int{}, issued: map[string]int{}, sessions: map[string]string{},
		tasks: map[string]*echoTask{}, seen: map[int][]string{}, counts: map[string]int{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-protected-resource/", func(w http.ResponseWriter, r *http.Request) {
		sendObject(w, http.StatusOK, object{"resource": e.url + strings.TrimPrefix(r.URL.Path, "/.well-known/oauth-protected-resource"), "authorization_servers": []string{e.url}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		sendObject(w, http.StatusOK, object{
			"issuer": e.url, "authorization_endpoint": e.url + "/authorize", "token_endpoint": e.url + "/token", "registration_endpoint": e.url + "/register",
			"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	})
	mux.HandleFunc("POST /register", func(w http.ResponseWriter, r *http.Request) {
		var asked object
		_ = json.NewDecoder(r.Body).Decode(&asked)
		asked["client_id"], asked["token_endpoint_auth_method"] = "patchbay", "none"
		sendObject(w, http.StatusCreated, asked)
	})
	mux.HandleFunc("GET /authorize", e.authorizeAccount)
	mux.HandleFunc("POST /token", e.serveToken)
	mux.HandleFunc("/oauth/{server}", e.serveModern)
	mux.HandleFunc("/key/{server}", e.serveSessions)
	e.url = serve(t, mux)
	return e
}

func sendObject(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// subjectHeader has the subject that a browser signs in with.
const subjectHeader = "Soak-Subject"

// authorizeAccount is a sign-in that needs no form.
func (e *echoServer) authorizeAccount(w http.ResponseWriter, r *http.Request) {
	q, subject := r.URL.Query(), r.Header.Get(subjectHeader)
	e.mu.Lock()
	code := "code-" + strconv.Itoa(len(e.codes)) + "-" + subject
	e.codes[code] = subject
	e.mu.Unlock()
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

// serveToken rotates refresh tokens. An older one is accepted until the newer one was used, because its answer may have been lost.
func (e *echoServer) serveToken(w http.ResponseWriter, r *http.Request) {
	kind := r.FormValue("grant_type")
	e.count(kind, 1)
	if kind == "refresh_token" {
		e.count("refreshing", 1)
		defer e.count("refreshing", -1)
		if !e.awaitRefresh(r) {
			e.count("cut off refreshes", 1)
			return
		}
	}
	subject, number, ok := e.nextToken(r)
	if !ok {
		e.count("refused refreshes", 1)
		sendObject(w, http.StatusBadRequest, object{"error": "invalid_grant"})
		return
	}
	sendObject(w, http.StatusOK, object{
		"access_token": fmt.Sprintf("at.%s.%d.%d", subject, number, time.Now().Add(tokenLife).UnixMilli()), "token_type": "Bearer",
		"expires_in": int(tokenLife.Seconds()), "refresh_token": fmt.Sprintf("rt.%s.%d", subject, number),
	})
}

// awaitRefresh lets a refresh take its time, and reports whether its process still waits for the answer.
func (e *echoServer) awaitRefresh(r *http.Request) bool {
	e.mu.Lock()
	hold := e.hold
	e.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return false
		}
	}
	select {
	case <-time.After(refreshTime):
		return true
	case <-r.Context().Done():
		return false
	}
}

// holdRefreshes has refreshes wait until the returned function is called.
func (e *echoServer) holdRefreshes() (release func()) {
	held := make(chan struct{})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hold = held
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.hold = nil
		close(held)
	}
}

func (e *echoServer) nextToken(r *http.Request) (subject string, number int, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.FormValue("grant_type") == "authorization_code" {
		subject, ok = e.codes[r.FormValue("code")]
	} else if parts := strings.Split(r.FormValue("refresh_token"), "."); len(parts) == 3 {
		subject = parts[1]
		presented, err := strconv.Atoi(parts[2])
		ok = err == nil && presented >= e.used[subject]
		e.used[subject] = max(e.used[subject], presented)
	}
	e.issued[subject]++
	return subject, e.issued[subject], ok
}

func (e *echoServer) count(kind string, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counts[kind] += n
}

func (e *echoServer) counted(kind string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.counts[kind]
}

// subjectOf is the subject of a request's token, or empty.
func subjectOf(r *http.Request) string {
	parts := strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), ".")
	switch {
	case len(parts) == 2 && parts[0] == "key":
		return parts[1]
	case len(parts) == 4 && parts[0] == "at":
		if until, err := strconv.ParseInt(parts[3], 10, 64); err == nil && time.Now().UnixMilli() < until {
			return parts[1]
		}
	}
	return ""
}

// echoMessage is a JSON-RPC message to the MCP servers.
type echoMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name, URI, TaskID string
		Arguments         struct{ N json.Number }
	}
}

// serveModern serves 2026-07-28.
func (e *echoServer) serveModern(w http.ResponseWriter, r *http.Request) {
	subject := subjectOf(r)
	if subject == "" {
		e.count("refused tokens", 1)
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer resource_metadata=%q", e.url+"/.well-known/oauth-protected-resource"+r.URL.Path))
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var m echoMessage
	if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == "server/discover" {
		e.reply(w, m, `"supportedVersions":["2026-07-28"],"serverInfo":{"name":"echo","version":"1"},"capabilities":{"tools":{},"prompts":{},"resources":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
		return
	}
	e.answer(w, m, subject)
}

// serveSessions serves 2025-11-25.
func (e *echoServer) serveSessions(w http.ResponseWriter, r *http.Request) {
	subject, session := subjectOf(r), r.Header.Get("Mcp-Session-Id")
	var m echoMessage
	switch {
	case subject == "":
		w.WriteHeader(http.StatusUnauthorized)
		return
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case r.Method == http.MethodPost && (json.NewDecoder(r.Body).Decode(&m) != nil || m.Method == ""):
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	owner, known := e.sessions[session]
	if m.Method == "initialize" {
		session = "session-" + strconv.Itoa(len(e.sessions))
		e.sessions[session], owner, known = subject, subject, true
		w.Header().Set("Mcp-Session-Id", session)
	}
	if known && owner != subject {
		e.wrong = append(e.wrong, fmt.Sprintf("%s of %s in a session of %s", m.Method, subject, owner))
	}
	e.mu.Unlock()
	switch {
	case !known && session == "": // a client of the newest era falls back
		w.WriteHeader(http.StatusBadRequest)
	case !known:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodDelete, m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "initialize":
		e.reply(w, m, `"protocolVersion":"2025-11-25","serverInfo":{"name":"echo","version":"1"},"capabilities":{"tools":{},"prompts":{},"resources":{}}`)
	default:
		e.answer(w, m, subject)
	}
}

// echoTools are read without an approval, and changed with one. later makes a task where the client takes it.
const echoTools = `"tools":[{"name":"look","description":"Looks.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},` +
	`{"name":"change","description":"Changes.","inputSchema":{"type":"object"}},{"name":"later","description":"Takes long.","inputSchema":{"type":"object"}}]`

// answer serves what both eras have.
func (e *echoServer) answer(w http.ResponseWriter, m echoMessage, subject string) {
	switch n := string(m.Params.Arguments.N); m.Method {
	case "tools/list":
		e.reply(w, m, echoTools)
	case "prompts/list":
		e.reply(w, m, `"prompts":[{"name":"note","arguments":[{"name":"n","required":true}]}]`)
	case "resources/list":
		e.reply(w, m, `"resources":[]`)
	case "resources/templates/list":
		e.reply(w, m, `"resourceTemplates":[{"name":"note","uriTemplate":"note:///{n}"}]`)
	case "tools/call":
		if m.Params.Name == "later" {
			e.reply(w, m, fmt.Sprintf(`"resultType":"task","taskId":%q,"status":"working","pollIntervalMs":20,"ttlMs":600000`, e.newTask(n, subject)))
			return
		}
		e.reply(w, m, `"content":[{"type":"text","text":"`+e.echo(n, subject)+`"}]`)
	case "prompts/get":
		e.reply(w, m, `"messages":[{"role":"user","content":{"type":"text","text":"`+e.echo(n, subject)+`"}}]`)
	case "resources/read":
		n = strings.TrimPrefix(m.Params.URI, "note:///")
		e.reply(w, m, fmt.Sprintf(`"contents":[{"uri":%q,"text":%q}]`, m.Params.URI, e.echo(n, subject)))
	case "tasks/get":
		e.reply(w, m, e.pollTask(m.Params.TaskID, subject))
	default:
		e.reply(w, m, ``)
	}
}

func (e *echoServer) reply(w http.ResponseWriter, m echoMessage, members string) {
	if !strings.Contains(members, `"resultType"`) {
		members = strings.TrimSuffix(`"resultType":"complete",`+members, ",")
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, members)
}

// echo notes the subject of a call, and is the text of its answer.
func (e *echoServer) echo(n, subject string) string {
	number, err := strconv.Atoi(n)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.wrong = append(e.wrong, "a call with the number "+n)
	}
	e.seen[number] = append(e.seen[number], subject)
	return "call " + n + " saw " + subject
}

func (e *echoServer) newTask(n, subject string) (id string) {
	e.echo(n, subject)
	e.mu.Lock()
	defer e.mu.Unlock()
	id = "task-" + strconv.Itoa(len(e.tasks))
	number, _ := strconv.Atoi(n)
	e.tasks[id] = &echoTask{subject: subject, n: number}
	return id
}

// pollTask completes a task at its second poll.
func (e *echoServer) pollTask(id, subject string) string {
	e.mu.Lock()
	task := e.tasks[id]
	switch {
	case task == nil:
		e.wrong = append(e.wrong, "an unknown task "+id)
		task = &echoTask{}
	case task.subject != subject:
		e.wrong = append(e.wrong, fmt.Sprintf("%s polls the task of %s", subject, task.subject))
	}
	task.polls++
	n, polls := task.n, task.polls
	e.mu.Unlock()
	if polls == 1 {
		return fmt.Sprintf(`"taskId":%q,"status":"working","pollIntervalMs":20,"ttlMs":600000`, id)
	}
	return fmt.Sprintf(`"taskId":%q,"status":"completed","pollIntervalMs":20,"ttlMs":600000,"result":{"content":[{"type":"text","text":"%s"}]}`, id, e.echo(strconv.Itoa(n), subject))
}

// sightings are the subjects that were seen of each call, and what was wrong by itself.
func (e *echoServer) sightings() (map[int][]string, []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen, e.wrong
}
