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
func (t *Tool) ForModels() toolfmt.Tool { return forModels(t.Exposed, t.Raw) }

func forModels(exposed string, raw []byte) toolfmt.Tool {
	def := connectors.DecodeTool(raw)
	return toolfmt.Tool{
		Name:        exposed,
		Title:       def.DisplayTitle(),
		Description: def.Description,
		InputSchema: def.InputSchema,
		Annotations: def.Annotations,
		Definition:  raw,
	}
}

// SizeOf is how much of a model's input a tool would take, by its definition.
func SizeOf(exposed string, raw []byte, f toolfmt.Format) Size {
	size := Size{Tools: 1}
	for _, written := range toolfmt.Definitions(f, []toolfmt.Tool{forModels(exposed, raw)}) {
		size.Bytes, size.Tokens = size.Bytes+len(written), size.Tokens+toolfmt.Tokens(f, written)
	}
	return size
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
func (v *View) Size(f toolfmt.Format) Size { return sizeOf(v.Tools, f) }

// Size is the same of one connector.
func (r *Reach) Size(f toolfmt.Format) Size { return sizeOf(r.Tools, f) }

func sizeOf(tools []*Tool, f toolfmt.Format) Size {
	var s Size
	for _, t := range tools {
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
	size = SizeOf(t.Exposed, t.Raw, f)
	if s.known == nil {
		s.known = map[toolfmt.Format]Size{}
	}
	s.known[f] = size
	return size
}
