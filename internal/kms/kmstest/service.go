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

// Service is a server of one of the kinds.
type Service struct {
	*httptest.Server

	mu       sync.Mutex
	keys     map[string]cipher.AEAD
	asked    map[string]int
	refusing bool
}

// Asked tells how often it was asked for something, as "Decrypt" or "decrypt", and did it.
func (s *Service) Asked(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[operation]
}

// Refuse has it refuse everything, as a service does whose key was disabled, or that is sealed.
func (s *Service) Refuse(refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusing = refuse
}

func newService() *Service {
	return &Service{keys: map[string]cipher.AEAD{}, asked: map[string]int{}}
}

func (s *Service) count(operation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[operation]++
}

func (s *Service) refuses() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusing
}

// addKey makes a key. It is for the beginning, when nobody asks yet.
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

func answer(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document)
}
