package agentview

import (
	"fmt"
	"sync"
	"testing"
)

func TestSchemaCache_StaysWithinBudget(t *testing.T) {
	t.Parallel()
	cache := &schemaCache{budget: 20_000}
	var all []*definition
	for i := range 200 {
		d := newDefinition([32]byte{byte(i)}, fmt.Appendf(nil, `{"name":"t","inputSchema":{"properties":{"a%[1]d":{"enum":["b"]}}},"outputSchema":{"properties":{"b%[1]d":{"enum":["b"]}}}}`, i))
		d.schemas = cache
		all = append(all, d)
	}
	var calls sync.WaitGroup
	for worker := range 4 {
		calls.Go(func() {
			for i := range all {
				d := all[(i+worker*50)%len(all)]
				if cache.get(d, inputPart).plan == nil || cache.get(d, outputPart).plan == nil {
					t.Error("a schema is not compiled")
				}
			}
		})
	}
	calls.Wait()
	if got := cache.size(); got == 0 || got > cache.budget {
		t.Errorf("%d bytes are held, of %d", got, cache.budget)
	}
	var held int64
	for _, d := range all {
		for part := range d.compiled {
			if e := d.compiled[part].compiled.Load(); e != nil {
				held += e.schema.bytes
			}
		}
	}
	if held != cache.size() {
		t.Errorf("definitions hold %d bytes, the cache counts %d", held, cache.size())
	}
}
