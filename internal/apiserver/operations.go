package apiserver

import (
	"sync"

	"patchbay/internal/connectors"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
)

// boundOperation is a binding that was read, with its filter. It is not changed.
type boundOperation struct {
	binding *openapi.Binding
	filter  *httpcall.Filter // nil: none
	origin  string           // of the binding's server, as of [connectors.Origin]
}

// maxOperations bounds the operations of a cache.
const maxOperations = 256

// operationCache has operations by the text of their bindings.
type operationCache struct {
	mu     sync.RWMutex
	byText map[string]*boundOperation
}

// readOperation returns the operation of a binding. The error is a fault.
func (c *operationCache) readOperation(text []byte) (*boundOperation, error) {
	c.mu.RLock()
	found := c.byText[string(text)]
	c.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	binding, err := openapi.ReadBinding(text)
	if err != nil {
		return nil, err
	}
	made := &boundOperation{binding: binding, origin: connectors.Origin(binding.Server)}
	if binding.Filter != "" {
		if made.filter, err = httpcall.CompileFilter(binding.Filter); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byText == nil || len(c.byText) >= maxOperations {
		c.byText = map[string]*boundOperation{}
	}
	c.byText[string(text)] = made
	return made, nil
}
