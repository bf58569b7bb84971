package db_test

import (
	"runtime"
	"testing"

	"patchbay/db"
	"patchbay/internal/safe"
)

// TestNewConnection_PanicIsAnError has panic what the pool and package net call in goroutines of their own.
func TestNewConnection_PanicIsAnError(t *testing.T) {
	t.Parallel()
	if err := db.LearnTypes(t.Context(), nil); !safe.IsPanic(err) {
		t.Errorf("types: %v", err)
	}
	if err := db.Dialer().Control("tcp", "", nil); runtime.GOOS == "linux" && !safe.IsPanic(err) {
		t.Errorf("silence: %v", err)
	}
}
