package mcptest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// TaskServer is a server of 2025-11-25 with the tools "research", which requires a task, "either", which can run as one,
// and "plain". A task is known only in the session that made it, as with the official SDKs. It goes on until the test ends it.
type TaskServer struct {
	URL       string
	Began     chan string // ids of new tasks
	Cancelled chan string // ids of cancelled tasks

	mu           sync.Mutex // guards the fields below
	capabilities string
	sessions     int
	deleted      int
	calls        []json.RawMessage // params of tools/call
	tasks        map[string]*serverTask
	answers      map[string]chan json.RawMessage // of the client, by request id
	stream       chan string                     // what the stream of a GET sends; nil: there is none
}

type serverTask struct {
	id, session string
	status      string
	message     string
	question    string // params of elicitation/create that is not sent yet
	asked       string // id of the question; empty: none
	outcome     string // member of the response to tasks/result
	token       string // progress token of the call, JSON
	changed     chan struct{}

	created, updated string // times
}

// TaskCapabilities are those of a server that runs tools as tasks.
const TaskCapabilities = `{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`

// TaskTools are the definitions of its tools.
var TaskTools = []string{
	`{"name":"research","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`,
	`{"name":"either","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`,
	`{"name":"plain","inputSchema":{"type":"object"}}`,
}

// StartTaskServer starts a server with these capabilities; empty: TaskCapabilities.
func StartTaskServer(t testing.TB, capabilities string) *TaskServer {
	t.Helper()
	if capabilities == "" {
		capabilities = TaskCapabilities
	}
	s := &TaskServer{
		Began: make(chan string, 100), Cancelled: make(chan string, 100), capabilities: capabilities, tasks: map[string]*serverTask{}, answers: map[string]chan json.RawMessage{},
	}
	front := httptest.NewServer(http.HandlerFunc(s.serveRequest))
	s.URL = front.URL + "/mcp"
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	return s
}

// Calls are the params of the calls so far.
func (s *TaskServer) Calls() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]json.RawMessage(nil), s.calls...)
}

// Sessions are the numbers of sessions that were opened and deleted.
func (s *TaskServer) Sessions() (opened, deleted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions, s.deleted
}

// Say sets the status message of a task that goes on.
func (s *TaskServer) Say(id, message string) {
	s.changeTask(id, func(task *serverTask) { task.message = message })
}

// Ask sends params of elicitation/create to the client that waits for the task's result, and returns the answer.
func (s *TaskServer) Ask(id, params string) <-chan json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := make(chan json.RawMessage, 1)
	task := s.tasks[id]
	task.status, task.question, task.asked = "input_required", params, fmt.Sprintf("question-%d", len(s.answers))
	s.answers[task.asked] = answer
	task.announceChange()
	return answer
}

// Complete ends a task with a result.
func (s *TaskServer) Complete(id, result string) {
	s.changeTask(id, func(task *serverTask) { task.status, task.outcome = "completed", `"result":`+result })
}

// Fail ends a task with a member of the response: an error, or a result that is one.
func (s *TaskServer) Fail(id, outcome string) {
	s.changeTask(id, func(task *serverTask) { task.status, task.outcome = "failed", outcome })
}

// Expire forgets a task.
func (s *TaskServer) Expire(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tasks, id)
}

func (s *TaskServer) changeTask(id string, do func(*serverTask)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(s.tasks[id])
	s.tasks[id].announceChange()
}

func (t *serverTask) announceChange() {
	t.updated = time.Now().UTC().Format(time.RFC3339Nano)
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *serverTask) isEnded() bool { return t.status != "working" && t.status != "input_required" }

func (t *serverTask) formatTask() string {
	return fmt.Sprintf(`{"taskId":%q,"status":%q,"statusMessage":%q,"createdAt":%q,"lastUpdatedAt":%q,"ttl":600000,"pollInterval":250}`,
		t.id, t.status, t.message, t.created, t.updated)
}

type taskMessage struct {
	ID     json.RawMessage
	Method string
	Result json.RawMessage
	Params struct {
		Name   string
		TaskID string
		Task   json.RawMessage
		Meta   struct{ ProgressToken json.RawMessage } `json:"_meta"`
	}
}

func (s *TaskServer) serveRequest(w http.ResponseWriter, r *http.Request) {
	session := r.Header.Get("Mcp-Session-Id")
	body, _ := io.ReadAll(r.Body)
	var m taskMessage
	_ = json.Unmarshal(body, &m)
	switch {
	case r.Method == http.MethodDelete:
		s.endSession(session)
	case r.Method == http.MethodGet && s.stream != nil:
		s.streamNotes(w, r)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case m.Method == "initialize":
		s.openSession(w, m)
	case m.Method == "" && m.ID != nil:
		s.takeAnswer(m)
		w.WriteHeader(http.StatusAccepted)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "tools/list":
		s.writeReply(w, m, `"result":{"tools":[`+TaskTools[0]+`,`+TaskTools[1]+`,`+TaskTools[2]+`]}`)
	case m.Method == "tools/call":
		s.callTool(w, m, session, body)
	case m.Method == "tasks/result":
		s.streamResult(w, r, m, session)
	default:
		s.serveTask(w, m, session)
	}
}

func (s *TaskServer) writeReply(w io.Writer, m taskMessage, outcome string) {
	if h, ok := w.(http.ResponseWriter); ok {
		h.Header().Set("Content-Type", "application/json")
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, outcome)
}

func (s *TaskServer) openSession(w http.ResponseWriter, m taskMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
	w.Header().Set("Mcp-Session-Id", fmt.Sprintf("session-%d", s.sessions))
	s.writeReply(w, m, `"result":{"protocolVersion":"2025-11-25","capabilities":`+s.capabilities+`,"serverInfo":{"name":"tasks"}}`)
}

// endSession ends a session with its tasks.
func (s *TaskServer) endSession(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleted++
	for id, task := range s.tasks {
		if task.session == session {
			delete(s.tasks, id)
		}
	}
}

func (s *TaskServer) callTool(w http.ResponseWriter, m taskMessage, session string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var raw struct{ Params json.RawMessage }
	_ = json.Unmarshal(body, &raw)
	s.calls = append(s.calls, raw.Params)
	switch {
	case m.Params.Task != nil && m.Params.Name != "plain":
		task := &serverTask{id: fmt.Sprintf("own-id-%d", len(s.tasks)+1), session: session, status: "working", changed: make(chan struct{}), token: string(m.Params.Meta.ProgressToken)}
		task.created = time.Now().UTC().Format(time.RFC3339Nano)
		task.updated = task.created
		s.tasks[task.id] = task
		s.Began <- task.id
		s.writeReply(w, m, `"result":{"task":`+task.formatTask()+`}`)
	case m.Params.Task != nil || m.Params.Name == "research":
		s.writeReply(w, m, `"error":{"code":-32601,"message":"Tool research requires a task"}`)
	default:
		s.writeReply(w, m, `"result":{"content":[{"type":"text","text":"at once"}]}`)
	}
}

const noTask = `"error":{"code":-32602,"message":"Failed to retrieve task: Task not found"}`

// findTask returns a task of a session; nil: it knows none. The caller holds mu.
func (s *TaskServer) findTask(id, session string) *serverTask {
	if task := s.tasks[id]; task != nil && task.session == session {
		return task
	}
	return nil
}

func (s *TaskServer) serveTask(w http.ResponseWriter, m taskMessage, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	task := s.findTask(m.Params.TaskID, session)
	switch {
	case task == nil:
		s.writeReply(w, m, noTask)
	case m.Method == "tasks/cancel" && task.isEnded():
		s.writeReply(w, m, `"error":{"code":-32602,"message":"Cannot cancel task in terminal status"}`)
	case m.Method == "tasks/cancel":
		task.status = "cancelled"
		task.announceChange()
		s.Cancelled <- task.id
		s.writeReply(w, m, `"result":`+task.formatTask())
	case m.Method == "tasks/get":
		s.writeReply(w, m, `"result":`+task.formatTask())
	default:
		s.writeReply(w, m, `"error":{"code":-32601,"message":"Method not found"}`)
	}
}

func (s *TaskServer) takeAnswer(m taskMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var id string
	if json.Unmarshal(m.ID, &id) != nil || s.answers[id] == nil {
		return
	}
	for _, task := range s.tasks {
		if task.asked == id {
			task.status, task.asked = "working", ""
			task.announceChange()
		}
	}
	s.answers[id] <- m.Result
}

// resultState is what tasks/result shows of a task at one moment.
type resultState struct {
	asked, question string // of a question that is to be sent; empty: none
	outcome         string // of an ended task; empty: it goes on
	changed         chan struct{}
}

// takeState returns the state of a task, and takes its question; nil: the session has no such task.
func (s *TaskServer) takeState(id, session string) *resultState {
	s.mu.Lock()
	defer s.mu.Unlock()
	task := s.findTask(id, session)
	if task == nil {
		return nil
	}
	state := &resultState{asked: task.asked, question: task.question, outcome: task.outcome, changed: task.changed}
	if task.isEnded() && task.outcome == "" {
		state.outcome = `"error":{"code":-32602,"message":"The task has no result"}`
	}
	task.question = ""
	return state
}

// streamResult streams the questions of a task, and its result when it ends.
func (s *TaskServer) streamResult(w http.ResponseWriter, r *http.Request, m taskMessage, session string) {
	state := s.takeState(m.Params.TaskID, session)
	switch {
	case state == nil:
		s.writeReply(w, m, noTask)
		return
	case state.outcome != "":
		s.writeReply(w, m, state.outcome)
		return
	}
	related := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}`, m.Params.TaskID)
	w.Header().Set("Content-Type", "text/event-stream")
	for ; state != nil; state = s.takeState(m.Params.TaskID, session) {
		if state.question != "" {
			_, _ = io.WriteString(w, Event(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"elicitation/create","params":{%s,%s}}`, state.asked, state.question, related)))
		}
		if state.outcome != "" {
			_, _ = io.WriteString(w, Event(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, state.outcome)))
			return
		}
		_, _ = io.WriteString(w, ": waits\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-state.changed:
		case <-r.Context().Done():
			return
		}
	}
}
