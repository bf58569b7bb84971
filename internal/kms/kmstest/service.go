package kmstest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Service is a fake KMS.
type Service struct {
	*httptest.Server

	mu       sync.Mutex
	keys     map[string]cipher.AEAD
	asked    map[string]int
	refusing bool
}

// Asked returns how often an operation succeeded, as "Decrypt" or "decrypt".
func (s *Service) Asked(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[operation]
}

// Refuse makes it refuse everything, as with a disabled key or a sealed Vault.
func (s *Service) Refuse(refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusing = refuse
}

func newService() *Service {
	return &Service{keys: map[string]cipher.AEAD{}, asked: map[string]int{}}
}

func (s *Service) countOperation(operation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[operation]++
}

func (s *Service) isRefusing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusing
}

// addKey makes a key, before the first request.
func (s *Service) addKey(t testing.TB, name string) {
	t.Helper()
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	block, err := aes.NewCipher(raw)
	if err != nil {
		t.Fatal(err)
	}
	if s.keys[name], err = cipher.NewGCMWithRandomNonce(block); err != nil {
		t.Fatal(err)
	}
}

func writeJSON(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document)
}
