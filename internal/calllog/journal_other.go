//go:build !unix

package calllog

import (
	"errors"
	"os"
)

func lockFile(*os.File) error { return nil }

// mapFile is unsupported: without a journal, a killed process loses the beginnings of its last 100 ms.
func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return nil }
