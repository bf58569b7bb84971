package mcp_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"patchbay/internal/mcp"
	"patchbay/internal/safe"
)

// The goroutine that reads a program's output panics.
func TestProgramReader_PanicEndsItsProcessAlone(t *testing.T) {
	for mode, era := range eras {
		t.Run(string(era), func(t *testing.T) {
			target, neighbour := newProgramTarget(t, mode), newProgramTarget(t, mode)
			markPeer(t, target)
			s, other := dial(t, target), dial(t, neighbour)
			before, process := safe.Count(safe.Program), findProcess(t, other)
			_, err := s.Call(t.Context(), mcp.Call{Name: "tells", Progress: func(mcp.ProgressNote) { panic("of a test") }})
			if _, ok := errors.AsType[*mcp.Error](err); !ok {
				t.Errorf("error = %v", err)
			}
			if findProcess(t, s) == "" {
				t.Error("the next call is not answered")
			}
			if findProcess(t, other) != process {
				t.Error("the other program was started anew")
			}
			for end := time.Now().Add(patience); safe.Count(safe.Program) == before && time.Now().Before(end); {
				runtime.Gosched() // waiting requests continue before the panic is counted
			}
			if n := safe.Count(safe.Program) - before; n < 1 {
				t.Errorf("%d panics are counted", n)
			}
		})
	}
}
