package calllog

import (
	"os"
	"syscall"
	"testing"

	"patchbay/internal/testing/fixture"
)

func TestOpenJournal_AllocatesAllBlocks(t *testing.T) {
	t.Parallel()
	j, err := openJournal(t.TempDir(), fixture.NewInstance())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.close(true) }()
	info, err := os.Stat(j.path)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Blocks*512 < slotSize*slotCount {
		t.Errorf("%+v", info.Sys())
	}
}
