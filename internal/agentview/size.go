package agentview

import (
	"sync"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/toolfmt"
)

// Size is the share of a model's input that tools take.
type Size struct {
	Tools  int
	Bytes  int // in the provider's format
	Tokens int // an estimate: see [toolfmt.Tokens]
}

// Add adds other to s.
func (s *Size) Add(other Size) {
	s.Tools, s.Bytes, s.Tokens = s.Tools+other.Tools, s.Bytes+other.Bytes, s.Tokens+other.Tokens
}

// ForModels returns a listed tool for package toolfmt.
func (t *Tool) ForModels() toolfmt.Tool { return toModelTool(t.Exposed, t.Raw) }

func toModelTool(exposed string, raw []byte) toolfmt.Tool {
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

// MeasureTool returns the size of a tool definition; zero if models must not get it.
func MeasureTool(exposed string, raw []byte, f toolfmt.Format) Size {
	if isAppsOnly(raw) {
		return Size{}
	}
	size := Size{Tools: 1}
	for _, written := range toolfmt.Definitions(f, []toolfmt.Tool{toModelTool(exposed, raw)}) {
		size.Bytes, size.Tokens = size.Bytes+len(written), size.Tokens+toolfmt.Tokens(f, written)
	}
	return size
}

// Size returns the size of a listed tool in a provider's format; zero if it is not listed. It is computed once
// per definition.
func (t *Tool) Size(f toolfmt.Format) Size {
	if t.def == nil {
		return Size{}
	}
	return t.def.sizes.sizeFor(f, t)
}

// Size returns the size of all tools of the agent.
func (v *View) Size(f toolfmt.Format) Size { return sumSizes(v.Tools, f) }

// Size returns the size of the connector's tools.
func (connector *ConnectorView) Size(f toolfmt.Format) Size { return sumSizes(connector.Tools, f) }

func sumSizes(tools []*Tool, f toolfmt.Format) Size {
	var s Size
	for _, t := range tools {
		s.Add(t.Size(f))
	}
	return s
}

// sizeCache caches a definition's sizes by format.
type sizeCache struct {
	mu       sync.Mutex
	byFormat map[toolfmt.Format]Size // guarded by mu
}

func (s *sizeCache) sizeFor(f toolfmt.Format, t *Tool) Size {
	s.mu.Lock()
	defer s.mu.Unlock()
	size, known := s.byFormat[f]
	if known {
		return size
	}
	size = MeasureTool(t.Exposed, t.Raw, f)
	if s.byFormat == nil {
		s.byFormat = map[toolfmt.Format]Size{}
	}
	s.byFormat[f] = size
	return size
}
