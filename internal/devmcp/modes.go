package devmcp

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// newModeHandler returns the endpoint of one mode.
func newModeHandler(mode string, o Options, tools []json.RawMessage) http.Handler {
	e := &endpoint{tools: tools, known: toolNames(tools), sessions: newSessions()}
	switch mode {
	case "sse":
		e.stream = true
	case "paged":
		e.pageSize = pageSize
	case "bearer":
		return requireCredential(e, `Bearer realm="dev-mcp"`, func(r *http.Request) bool {
			return isEqual(r.Header.Get("Authorization"), "Bearer "+o.Token)
		})
	case "api-key":
		return requireCredential(e, "", func(r *http.Request) bool { return isEqual(r.Header.Get("X-Api-Key"), o.Token) })
	case "basic":
		return requireCredential(e, `Basic realm="dev-mcp"`, func(r *http.Request) bool {
			user, password, _ := r.BasicAuth()
			return isEqual(user, "dev") && isEqual(password, o.Token)
		})
	case "slow":
		return delayAnswers(e, o.Delay)
	case "failing":
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "This server always fails.", http.StatusInternalServerError)
		})
	}
	return e
}

// requireCredential refuses requests without a credential. challenge is the WWW-Authenticate of a refusal;
// empty: none.
func requireCredential(next http.Handler, challenge string, allowed func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if allowed(r) {
			next.ServeHTTP(w, r)
			return
		}
		if challenge != "" {
			w.Header().Set("WWW-Authenticate", challenge)
		}
		http.Error(w, "A credential is missing or wrong.", http.StatusUnauthorized)
	})
}

func isEqual(got, want string) bool {
	return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
}

// delayAnswers waits before each response, unless the client disconnects.
func delayAnswers(next http.Handler, delay time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// net/http detects a disconnect only after the body has been read.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "The body cannot be read.", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}
