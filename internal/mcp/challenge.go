package mcp

import (
	"net/http"
	"strings"
)

// Challenge is one challenge of WWW-Authenticate (RFC 9110 section 11.6.1).
type Challenge struct {
	Scheme string            // in lower case: "bearer"
	Params map[string]string // names in lower case; remote text
}

const (
	maxChallenges      = 16
	maxChallengeLength = 8 << 10
)

// parseChallenges reads every challenge of a response. It is lenient: values may be unquoted or empty, commas
// missing or doubled, and a quote unclosed.
func parseChallenges(h http.Header) []Challenge {
	var all []Challenge
	for _, line := range h.Values("WWW-Authenticate") {
		p := challengeParser{text: line[:min(len(line), maxChallengeLength)]}
		all = append(all, p.parse()...)
		if len(all) >= maxChallenges {
			return all[:maxChallenges]
		}
	}
	return all
}

type challengeParser struct{ text string }

// parse reads words. A word with a value is a parameter of the challenge before it; one without begins a
// challenge.
func (p *challengeParser) parse() []Challenge {
	var all []Challenge
	afterScheme := false
	for {
		comma := p.skipAny(" \t,;=")
		word := p.readUntil(" \t,;=")
		if word == "" {
			return all
		}
		value, isParam := p.paramValue()
		switch {
		case isParam && len(all) > 0:
			all[len(all)-1].Params[strings.ToLower(word)] = value
		case isParam, afterScheme && !comma: // a parameter without a challenge; a token68
		default:
			all = append(all, Challenge{Scheme: strings.ToLower(word), Params: map[string]string{}})
		}
		afterScheme = !isParam
	}
}

// paramValue reads "= value"; ok is false if none follows.
func (p *challengeParser) paramValue() (paramValue string, ok bool) {
	rest := strings.TrimLeft(p.text, " \t")
	if !strings.HasPrefix(rest, "=") {
		return "", false
	}
	p.text = strings.TrimLeft(rest[1:], " \t")
	if !strings.HasPrefix(p.text, `"`) {
		return p.readUntil(" \t,;"), true
	}
	p.text = p.text[1:]
	var b strings.Builder
	for i := 0; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			p.text = p.text[i+1:]
			return b.String(), true
		case c == '\\' && i+1 < len(p.text):
			i++
			b.WriteByte(p.text[i])
		default:
			b.WriteByte(c)
		}
	}
	p.text = ""
	return b.String(), true
}

// skipAny skips separators and reports whether they held a comma.
func (p *challengeParser) skipAny(chars string) (comma bool) {
	rest := strings.TrimLeft(p.text, chars)
	comma = strings.Contains(p.text[:len(p.text)-len(rest)], ",")
	p.text = rest
	return comma
}

func (p *challengeParser) readUntil(chars string) string {
	end := strings.IndexAny(p.text, chars)
	if end < 0 {
		end = len(p.text)
	}
	word := p.text[:end]
	p.text = p.text[end:]
	return word
}
