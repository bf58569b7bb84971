package toolsync_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing/synctest"
	"time"

	"patchbay/internal/credentials"
	"patchbay/internal/mcp/mcptest"
)

// sloppyWorld is a network with one server that answers at every called address.
type sloppyWorld struct {
	sloppyCase
	client  *http.Client
	serving sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	heard []sloppyCall
	count map[string]int
	conns map[*sloppyConn]bool
	news  chan struct{} // closed when a request arrives
}

// sloppyCall is one received request.
type sloppyCall struct {
	method  string // JSON-RPC method, or the HTTP method if not POST
	http    string
	origin  string
	header  http.Header
	id      json.RawMessage
	version string // requested protocol version
	meta    string // version in the request's _meta
	n       int    // count of this method, with this one
	place   int    // position among all requests
}

func newSloppyWorld(c sloppyCase) *sloppyWorld {
	w := &sloppyWorld{sloppyCase: c, count: map[string]int{}, conns: map[*sloppyConn]bool{}, news: make(chan struct{})}
	w.client = &http.Client{
		// As in package safehttp, except the network.
		Transport: &http.Transport{
			DialContext:            w.dial,
			MaxIdleConns:           100,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return w
}

func (w *sloppyWorld) origin() string {
	u, err := url.Parse(w.url)
	if err != nil {
		return ""
	}
	return u.Host
}

// authorization is the header that every request must carry.
func (w *sloppyWorld) authorization() string {
	if w.bearer == "" {
		return ""
	}
	return "Bearer " + w.bearer
}

func (w *sloppyWorld) calls() []sloppyCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]sloppyCall(nil), w.heard...)
}

// openConnections counts the connections that the client still holds.
func (w *sloppyWorld) openConnections() int {
	w.client.CloseIdleConnections()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.conns)
}

// close closes connections that the client left open and waits for the server.
func (w *sloppyWorld) close() {
	w.mu.Lock()
	left := slices.Collect(maps.Keys(w.conns))
	w.mu.Unlock()
	for _, conn := range left {
		_ = conn.Close()
	}
	w.serving.Wait()
}

// sloppyConn is the client's end of a connection.
type sloppyConn struct {
	net.Conn
	server net.Conn
	reset  chan struct{} // closed by a reset
	left   chan struct{} // closed by the client
	closed func()
}

// Read returns a reset as an error of its own.
func (c *sloppyConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	select {
	case <-c.reset:
		if errors.Is(err, io.EOF) {
			err = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
		}
	default:
	}
	return n, err
}

func (c *sloppyConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

func (w *sloppyWorld) dial(ctx context.Context, _, address string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	here, there := net.Pipe()
	conn := &sloppyConn{Conn: here, server: there, reset: make(chan struct{}), left: make(chan struct{})}
	conn.closed = sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		close(conn.left)
		delete(w.conns, conn)
	})
	w.mu.Lock()
	w.conns[conn] = true
	w.mu.Unlock()
	w.serving.Go(func() { w.serve(conn, strings.TrimSuffix(address, ":80")) })
	return conn, nil
}

// serve answers the requests of one connection until a side closes it.
func (w *sloppyWorld) serve(conn *sloppyConn, origin string) {
	defer func() { _ = conn.server.Close() }()
	if greeting, ok := w.replies["connect"]; ok {
		w.serving.Go(func() { _, _ = io.Copy(io.Discard, conn.server) }) // the client may write first
		p := &player{conn: conn, out: bufio.NewWriter(conn.server)}
		p.act(greeting.body, "\n")
		return
	}
	r := bufio.NewReader(conn.server)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		if !w.answer(conn, w.recordRequest(req, body, origin)) {
			return
		}
	}
}

func (w *sloppyWorld) recordRequest(req *http.Request, body []byte, origin string) sloppyCall {
	var message struct {
		Method string
		ID     json.RawMessage
		Params struct {
			ProtocolVersion string
			Meta            map[string]any `json:"_meta"`
		}
	}
	call := sloppyCall{method: req.Method, http: req.Method, origin: origin, header: req.Header}
	if req.Method == http.MethodPost && json.Unmarshal(body, &message) == nil {
		call.method, call.id, call.version = message.Method, message.ID, message.Params.ProtocolVersion
		call.meta, _ = message.Params.Meta["io.modelcontextprotocol/protocolVersion"].(string)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if call.http == http.MethodGet { // a stream carries responses to the last request
		call.id = w.lastID()
	}
	close(w.news)
	w.news = make(chan struct{})
	w.count[call.method]++
	call.n = w.count[call.method]
	w.heard = append(w.heard, call)
	call.place = len(w.heard)
	return call
}

func (w *sloppyWorld) lastID() json.RawMessage {
	for _, call := range slices.Backward(w.heard) {
		if call.id != nil {
			return call.id
		}
	}
	return nil
}

// await waits for a request of a method after that position, or for the client to close.
func (w *sloppyWorld) await(method string, after int, conn *sloppyConn) (sloppyCall, bool) {
	for {
		w.mu.Lock()
		news := w.news
		i := slices.IndexFunc(w.heard[after:], func(c sloppyCall) bool { return c.method == method })
		if i >= 0 {
			defer w.mu.Unlock()
			call := w.heard[after+i]
			call.place = after
			return call, true
		}
		w.mu.Unlock()
		select {
		case <-news:
		case <-conn.left:
			return sloppyCall{}, false
		}
	}
}

// answer plays the reply to a call and reports whether the connection goes on.
func (w *sloppyWorld) answer(conn *sloppyConn, call sloppyCall) (goesOn bool) {
	reply, ok := w.reply(call.method, call.n)
	if !ok {
		err := wellBehaved(call).Write(conn.server)
		stay := len(reply.body) < 2 // "{{well}}{{cut}}": a good response, then a cut
		return err == nil && stay
	}
	p := &player{world: w, conn: conn, out: bufio.NewWriterSize(conn.server, 64<<10), call: call}
	return p.play(reply)
}

// wellBehaved is the response of a server of protocol version 2025.
func wellBehaved(c sloppyCall) *http.Response {
	status, body := http.StatusOK, ""
	rpc := mcptest.Call{ID: c.id}
	switch {
	case c.http == http.MethodGet:
		status = http.StatusMethodNotAllowed
	case c.http == http.MethodDelete:
		status = http.StatusNoContent
	case c.id == nil:
		status = http.StatusAccepted
	case c.method == "initialize":
		body = mcptest.Result(rpc, fmt.Sprintf(
			`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"sloppy","version":"1"}}`, c.version))
	case c.method == "tools/list":
		body = mcptest.Result(rpc, `{"tools":[`+mcptest.Tool("good")+`]}`)
	default:
		body = mcptest.Failure(rpc, -32601, "Method not found")
	}
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		ContentLength: int64(len(body)),
		Body:          io.NopCloser(strings.NewReader(body)),
	}
}

// player sends one reply.
type player struct {
	world  *sloppyWorld
	conn   *sloppyConn
	out    *bufio.Writer
	call   sloppyCall
	chunks bool
	failed bool
}

// play sends head and body and reports whether the connection goes on.
func (p *player) play(r sloppyReply) (goesOn bool) {
	if r.hasNoHeader() {
		return p.act(r.body, "\n")
	}
	body, streams := []byte(nil), isTimed(r.body)
	if !streams {
		body = expandBody(r.body, p.call)
	}
	head := strings.ReplaceAll(string(expandBody(r.head, p.call)), "\n", "\r\n")
	if isTimed(r.head) {
		return p.act(r.head, "\r\n")
	}
	goesOn = true
	switch lower := strings.ToLower(head); {
	case head == "":
		head = "HTTP/1.1 200 OK\r\nContent-Type: application/json"
		fallthrough
	case !strings.Contains(lower, "content-length:") && !strings.Contains(lower, "transfer-encoding:"):
		switch {
		case strings.Contains(lower, "connection: close") || strings.HasPrefix(head, "HTTP/1.0"):
			goesOn = false
		case streams:
			head += "\r\nTransfer-Encoding: chunked"
			p.chunks = true
		case !strings.HasPrefix(head, "HTTP/1.1 204"):
			head += "\r\nContent-Length: " + strconv.Itoa(len(body))
		}
	}
	_, _ = p.out.WriteString(head + "\r\n\r\n")
	if streams {
		return p.act(r.body, "\n") && goesOn
	}
	_, _ = p.out.Write(body)
	return p.out.Flush() == nil && goesOn
}

// act sends pieces in sequence; lines is the line ending.
func (p *player) act(all []piece, lines string) (goesOn bool) {
	for _, one := range all {
		switch one.word {
		case "flush":
			p.flush()
		case "wait":
			p.flush()
			p.wait(one.arg)
		case "on":
			p.flush()
			call, ok := p.world.await(one.arg, p.call.place, p.conn)
			p.call, p.failed = call, p.failed || !ok
		case "drip":
			p.drip(one.arg)
		case "flood":
			p.flood(one.arg)
		case "hang":
			p.flush()
			_, _ = io.Copy(io.Discard, p.conn.server) // until the client closes
			return false
		case "reset":
			p.flush()
			close(p.conn.reset)
			return false
		case "cut":
			p.flush()
			return false
		default:
			p.write(bytes.ReplaceAll(one.bytes(p.call), []byte("\n"), []byte(lines)))
		}
		if p.failed {
			return false
		}
	}
	if p.chunks {
		_, _ = p.out.WriteString("0\r\n\r\n")
	}
	p.flush()
	return !p.failed
}

func (p *player) write(b []byte) {
	if len(b) == 0 {
		return
	}
	if p.chunks {
		fmt.Fprintf(p.out, "%x\r\n", len(b))
	}
	_, err := p.out.Write(b)
	if p.chunks {
		_, err = p.out.WriteString("\r\n")
	}
	p.failed = p.failed || err != nil
}

func (p *player) flush() {
	if err := p.out.Flush(); err != nil {
		p.failed = true
	}
}

func (p *player) wait(arg string) {
	d, err := time.ParseDuration(arg)
	if err != nil {
		panic(err)
	}
	time.Sleep(d)
}

// drip sends the text of "PAUSE text" once every pause, as long as the client reads.
func (p *player) drip(arg string) {
	pause, text, _ := strings.Cut(arg, " ")
	text = unescaped.Replace(text)
	for p.flush(); !p.failed; p.flush() {
		p.wait(pause)
		p.write([]byte(text))
	}
}

// flood sends 200 MiB of a repeated text, as long as the client reads.
func (p *player) flood(text string) {
	text = unescaped.Replace(text)
	chunk := bytes.Repeat([]byte(text), max(1, 32<<10/len(text)))
	for sent := 0; sent < 200<<20 && !p.failed; sent += len(chunk) {
		p.write(chunk)
	}
}

func credentialsWithoutStore() *credentials.Resolver { return credentials.New(nil) }
