//go:build e2e

package e2e_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// proxy balances requests among the replicas whose last /readyz was 200. It polls forty times a second.
type proxy struct {
	*httptest.Server
	transport *http.Transport

	mu       sync.Mutex      // guards all that follows
	replicas map[string]bool // by address: ready
	turn     int
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{transport: &http.Transport{MaxIdleConnsPerHost: 64}, replicas: map[string]bool{}}
	p.Server = httptest.NewServer(p)
	stop, looking := make(chan struct{}), sync.WaitGroup{}
	looking.Go(func() {
		again := time.NewTicker(25 * time.Millisecond)
		defer again.Stop()
		for {
			select {
			case <-again.C:
				p.look()
			case <-stop:
				return
			}
		}
	})
	t.Cleanup(func() {
		close(stop)
		looking.Wait()
		p.CloseClientConnections()
		p.Close()
		p.transport.CloseIdleConnections()
	})
	return p
}

func (p *proxy) add(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replicas[address] = false
}

// drop forgets a replica that has ended.
func (p *proxy) drop(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.replicas, address)
}

func (p *proxy) look() {
	for address := range p.copied() {
		ready := false
		if res, err := p.transport.RoundTrip(request(http.MethodGet, address+"/readyz", nil)); err == nil {
			ready = res.StatusCode == http.StatusOK
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		p.mu.Lock()
		if _, still := p.replicas[address]; still {
			p.replicas[address] = ready
		}
		p.mu.Unlock()
	}
}

func (p *proxy) copied() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]bool{}
	for address, ready := range p.replicas {
		all[address] = ready
	}
	return all
}

// ready is how many replicas take requests.
func (p *proxy) ready() int {
	n := 0
	for _, ready := range p.copied() {
		if ready {
			n++
		}
	}
	return n
}

// next is the next replica in turn; empty: none is ready.
func (p *proxy) next() string {
	var ready []string
	for address, yes := range p.copied() {
		if yes {
			ready = append(ready, address)
		}
	}
	if len(ready) == 0 {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn++
	return ready[p.turn%len(ready)]
}

// ServeHTTP reads a request whole, and hands the answer on as it comes. It never tries again: what a replica has begun to lose is lost.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	to := request(r.Method, p.next()+r.URL.RequestURI(), body).WithContext(r.Context())
	to.Header, to.Host = r.Header.Clone(), r.Host
	to.GetBody = nil // net/http would send some requests again
	res, err := p.transport.RoundTrip(to)
	if err != nil {
		http.Error(w, "the proxy: "+err.Error(), http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.Header().Del("Connection")
	w.WriteHeader(res.StatusCode)
	chunk := make([]byte, 32<<10)
	for {
		n, err := res.Body.Read(chunk)
		_, _ = w.Write(chunk[:n])
		_ = http.NewResponseController(w).Flush()
		if err != nil {
			return
		}
	}
}

func request(method, url string, body []byte) *http.Request {
	r, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		panic(err) // an address of ours
	}
	return r
}
