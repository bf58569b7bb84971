package installation

import (
	"errors"
	"io"
	"os"

	"patchbay/internal/catalog"
	"patchbay/internal/fault"
)

// LoadCatalog loads Patchbay's own servers and those of the operator's file.
func LoadCatalog(file string) (*catalog.Catalog, error) {
	offered, err := catalog.Builtin()
	if err != nil || file == "" {
		return offered, err
	}
	document, err := readFileUpTo(file, catalog.MaxBytes+1)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "PATCHBAY_CATALOG cannot be read: "+file+".")
	}
	offered, err = offered.With(document)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return nil, fault.Wrap(fault.Invalid, err, "PATCHBAY_CATALOG, "+file+":\n"+f.Message)
	}
	return offered, err
}

// readFileUpTo reads a file of at most maxBytes.
func readFileUpTo(file string, maxBytes int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxBytes))
}
