package serve

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// A session is the content of initialize. Its id carries all of it, sealed for the caller:
//
//	id of 12 bytes │ version │ capabilities │ client's name │ client's version, each after its length
//
// Nothing is stored, so that a session outlives the process that began it.
const (
	sessionIDLength = 12
	maxCapabilities = 1 << 10 // proxies refuse headers above some KiB
	maxClientText   = 64
)

var errNoSession = errors.New("not a session of ours")

func (s *Server) newSession(caller string, p *Client) (text string, err error) {
	state := make([]byte, sessionIDLength, 128)
	_, _ = rand.Read(state) // never fails
	p.Session = sessionName(state)
	state = appendPart(state, []byte(p.Version))
	state = appendPart(state, trimCapabilities(p.Capabilities))
	name, _ := wire.Unquote(wire.FindMember(p.ClientInfo, "name"))
	version, _ := wire.Unquote(wire.FindMember(p.ClientInfo, "version"))
	state = appendPart(state, []byte(name[:min(len(name), maxClientText)]))
	state = appendPart(state, []byte(version[:min(len(version), maxClientText)]))
	return s.opts.SealSession(caller, state)
}

// trimCapabilities returns the capabilities; above the bound, only the ones that the server uses or relays.
func trimCapabilities(capabilities []byte) []byte {
	if len(capabilities) <= maxCapabilities {
		return capabilities
	}
	var known []wire.Member
	for _, name := range []string{"elicitation", "sampling", "roots", "tasks"} {
		if value := wire.FindMember(capabilities, name); isObject(value) && len(value) < maxCapabilities/4 {
			known = append(known, wire.Member{Name: name, Value: value})
		}
	}
	extensions := wire.FindMember(capabilities, "extensions")
	if len(extensions) > maxCapabilities/2 { // the UI extension alone
		if value := wire.FindMember(extensions, revision.UIExtension); isObject(value) {
			extensions = wire.Object([]wire.Member{{Name: revision.UIExtension, Value: value}})
		}
	}
	if isObject(extensions) && len(extensions) <= maxCapabilities/2 {
		known = append(known, wire.Member{Name: "extensions", Value: extensions})
	}
	return wire.Object(known)
}

func (s *Server) openSession(caller, text string) (*Client, error) {
	key := sessionCacheKey{caller, text}
	if p := s.sessions.Get(key); p != nil {
		return p, nil
	}
	state, err := s.opts.OpenSession(caller, text)
	if err != nil {
		return nil, err
	}
	p, err := readSession(state)
	if err == nil {
		s.sessions.Put(key, p)
	}
	return p, err
}

type sessionCacheKey struct{ caller, text string }

func readSession(state []byte) (*Client, error) {
	if len(state) < sessionIDLength {
		return nil, errNoSession
	}
	p := &Client{Session: sessionName(state)}
	var parts [4][]byte
	rest := state[sessionIDLength:]
	for i := range parts {
		var ok bool
		if parts[i], rest, ok = readPart(rest); !ok {
			return nil, errNoSession
		}
	}
	p.Version = string(parts[0])
	p.Capabilities = parts[1]
	p.ClientInfo = wire.Object([]wire.Member{
		{Name: "name", Value: wire.Text(string(parts[2]))}, {Name: "version", Value: wire.Text(string(parts[3]))},
	})
	return p, nil
}

func sessionName(state []byte) string {
	return base64.RawURLEncoding.EncodeToString(state[:sessionIDLength])
}

func appendPart(b, part []byte) []byte {
	return append(append(b, byte(len(part)>>8), byte(len(part))), part...)
}

func readPart(b []byte) (part json.RawMessage, rest []byte, ok bool) {
	if len(b) < 2 {
		return nil, nil, false
	}
	end := 2 + int(b[0])<<8 + int(b[1])
	if len(b) < end {
		return nil, nil, false
	}
	return b[2:end:end], b[end:], true
}

// newProcessSealer seals sessions with a key of this process.
func newProcessSealer() (seal func(caller string, session []byte) (string, error), open func(caller, id string) ([]byte, error)) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, _ := aes.NewCipher(key)
	box, _ := cipher.NewGCMWithRandomNonce(block)
	bound := func(caller string) []byte { sum := sha256.Sum256([]byte(caller)); return sum[:] }
	seal = func(caller string, session []byte) (string, error) {
		return base64.RawURLEncoding.EncodeToString(box.Seal(nil, nil, session, bound(caller))), nil
	}
	open = func(caller, id string) ([]byte, error) {
		sealed, err := base64.RawURLEncoding.DecodeString(id)
		if err != nil {
			return nil, errNoSession
		}
		return box.Open(nil, nil, sealed, bound(caller))
	}
	return seal, open
}
