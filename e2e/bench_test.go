//go:build e2e

package e2e_test

import (
	"regexp"
	"testing"
)

// TestTheBenchmarkTellsWhatSyncsCost runs it with few connectors. How many requests one takes is exact whatever the machine does: four where
// the era has a handshake, one where it has none.
func TestTheBenchmarkTellsWhatSyncsCost(t *testing.T) {
	t.Parallel()
	for era, lines := range map[string][]string{
		"handshake": {
			`60 connectors of 6 tenants, 3 tools each, servers of the handshake era`,
			`unchanged: 65 syncs in \S+ s, \d+ a second; due to done p50 \S+, p99 \S+\n  the small tenant's: p50 \S+, the last \S+\n` +
				`  for each: CPU here \d+ µs, of PostgreSQL \d+ µs; [\d.]+ queries, 4\.00 requests, \d+ bytes of the log`,
			`every tool changed: 65 syncs in .*\n.*\n  for each: .* 4\.00 requests, `,
		},
		"modern": {`unchanged: 65 syncs in .*\n.*\n  for each: CPU here \d+ µs, of PostgreSQL \d+ µs; [\d.]+ queries, 1\.00 requests, \d+ bytes of the log`},
	} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			said := newHome(t).run("bench", "--throwaway", "--connectors", "60", "--tenants", "6", "--tools", "3", "--small", "5", "--rounds", "1", "--era", era)
			for _, line := range lines {
				if !regexp.MustCompile(line).MatchString(said) {
					t.Errorf("the benchmark of the %s era does not say %s:\n%s", era, line, said)
				}
			}
		})
	}
}
