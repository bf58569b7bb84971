package main

import (
	"os"
	"strings"
	"testing"
)

func TestDocuments_HaveChecksumAndLicence(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("documents.txt")
	if err != nil {
		t.Fatal(err)
	}
	licences, err := readLicences("documents.txt")
	if err != nil {
		t.Fatal(err)
	}
	documents := 0
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if fields[0] == "#" {
			continue
		}
		documents++
		if len(fields) < 5 || len(fields[3]) != 64 || !strings.Contains(fields[1][1:], "@") || licences[fields[0]] == "" {
			t.Errorf("%q", line)
		}
	}
	if documents < 20 || len(licences) != documents {
		t.Errorf("%d documents, %d licences", documents, len(licences))
	}
}
