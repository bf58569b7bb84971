package access

import (
	"sync"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/toolfmt"
)

// Size is how much of a model's input tools take.
type Size struct {
	Tools  int
	Bytes  int // as they are written for the provider
	Tokens int // an estimate: see [toolfmt.Tokens]
}

// Add makes s the size of both.
func (s *Size) Add(other Size) {
	s.Tools, s.Bytes, s.Tokens = s.Tools+other.Tools, s.Bytes+other.Bytes, s.Tokens+other.Tokens
}

// ForModels is a listed tool as package toolfmt writes it.
func (t *Tool) ForModels() toolfmt.Tool {
	def := connectors.DecodeTool(t.Raw)
	return toolfmt.Tool{
		Name:        t.Exposed,
		Title:       def.DisplayTitle(),
		Description: def.Description,
		InputSchema: def.InputSchema,
		Annotations: def.Annotations,
		Definition:  t.Raw,
	}
}

// Size is how much of a model's input a listed tool takes, in a provider's words; zero: it is not listed. It is worked out once for a
// definition, whoever sees it under whatever name.
func (t *Tool) Size(f toolfmt.Format) Size {
	if t.def == nil {
		return Size{}
	}
	return t.def.sizes.of(f, t)
}

// Size is how much of a model's input all tools take that the agent sees.
func (v *View) Size(f toolfmt.Format) Size {
	var s Size
	for _, t := range v.Tools {
		s.Add(t.Size(f))
	}
	return s
}

// sizes are what a definition's sizes are, by format.
type sizes struct {
	mu    sync.Mutex
	known map[toolfmt.Format]Size // guarded by mu
}

func (s *sizes) of(f toolfmt.Format, t *Tool) Size {
	s.mu.Lock()
	defer s.mu.Unlock()
	size, known := s.known[f]
	if known {
		return size
	}
	size.Tools = 1
	for _, written := range toolfmt.Definitions(f, []toolfmt.Tool{t.ForModels()}) {
		size.Bytes, size.Tokens = size.Bytes+len(written), size.Tokens+toolfmt.Tokens(f, written)
	}
	if s.known == nil {
		s.known = map[toolfmt.Format]Size{}
	}
	s.known[f] = size
	return size
}
