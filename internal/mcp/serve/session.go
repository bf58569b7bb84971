package serve

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"

	"patchbay/internal/mcp/wire"
)

// A session is no more than what initialize said. Its id carries all of it, sealed for the caller who began it:
//
//	id of 12 bytes │ version │ capabilities │ client's name │ client's version, each behind its length
//
// Nothing is kept, so that a session may outlive the process that began it.
const (
	sessionIDLength  = 12
	mostCapabilities = 1 << 10 // a header of more than some KiB is refused by proxies
	mostClientText   = 64
)

var errNoSession = errors.New("not a session of ours")

// newSession begins a session with a client.
func (s *Server) newSession(who string, p *Peer) (text string, err error) {
	state := make([]byte, sessionIDLength, 128)
	_, _ = rand.Read(state) // never fails
	p.Session = sessionName(state)
	state = appendPart(state, []byte(p.Version))
	state = appendPart(state, kept(p.Capabilities))
	name, _ := wire.Unquote(wire.MemberOf(p.ClientInfo, "name"))
	version, _ := wire.Unquote(wire.MemberOf(p.ClientInfo, "version"))
	state = appendPart(state, []byte(name[:min(len(name), mostClientText)]))
	state = appendPart(state, []byte(version[:min(len(version), mostClientText)]))
	return s.opts.SealSession(who, state)
}

// kept are capabilities as a session carries them: all, or, where those are too many, what we ask for.
func kept(capabilities []byte) []byte {
	if len(capabilities) <= mostCapabilities {
		return capabilities
	}
	var some []wire.Member
	for _, name := range []string{"elicitation", "sampling", "roots", "tasks"} {
		if value := wire.MemberOf(capabilities, name); isObject(value) && len(value) < mostCapabilities/4 {
			some = append(some, wire.Member{Name: name, Value: value})
		}
	}
	return wire.Object(some)
}

// openSession reads a session's id.
func (s *Server) openSession(who, text string) (*Peer, error) {
	key := sessionKey{who, text}
	if p := s.sessions.get(key); p != nil {
		return p, nil
	}
	state, err := s.opts.OpenSession(who, text)
	if err != nil {
		return nil, err
	}
	p, err := readSession(state)
	if err == nil {
		s.sessions.put(key, p)
	}
	return p, err
}

type sessionKey struct{ who, text string }

func readSession(state []byte) (*Peer, error) {
	if len(state) < sessionIDLength {
		return nil, errNoSession
	}
	p := &Peer{Session: sessionName(state)}
	var parts [4][]byte
	rest := state[sessionIDLength:]
	for i := range parts {
		var ok bool
		if parts[i], rest, ok = cutPart(rest); !ok {
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

func cutPart(b []byte) (part json.RawMessage, rest []byte, ok bool) {
	if len(b) < 2 {
		return nil, nil, false
	}
	end := 2 + int(b[0])<<8 + int(b[1])
	if len(b) < end {
		return nil, nil, false
	}
	return b[2:end:end], b[end:], true
}

// ownKey seals sessions with a key that dies with the process.
func ownKey() (seal func(who string, session []byte) (string, error), open func(who, id string) ([]byte, error)) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, _ := aes.NewCipher(key)
	box, _ := cipher.NewGCMWithRandomNonce(block)
	bound := func(who string) []byte { sum := sha256.Sum256([]byte(who)); return sum[:] }
	seal = func(who string, session []byte) (string, error) {
		return base64.RawURLEncoding.EncodeToString(box.Seal(nil, nil, session, bound(who))), nil
	}
	open = func(who, id string) ([]byte, error) {
		sealed, err := base64.RawURLEncoding.DecodeString(id)
		if err != nil {
			return nil, errNoSession
		}
		return box.Open(nil, nil, sealed, bound(who))
	}
	return seal, open
}
