package operator

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestDoctorCommand_FailsWithAProblem(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	c := DoctorCommand{}
	c.BaseURL, c.DataDir = "ftp://x", t.TempDir()
	if err := c.Run(t.Context(), IO{Stdout: &said}); !errors.Is(err, SilentFailure{}) || !strings.HasPrefix(said.String(), "PROBLEM  settings ") {
		t.Errorf("%v\n%s", err, said.String())
	}
}
