package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"patchbay/internal/secret"
)

func TestASecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	const plain = "hunter2"
	kek, err := secret.NewKEK()
	if err != nil {
		t.Fatal(err)
	}
	for name, hidden := range map[string]struct {
		value any
		plain string
	}{
		"text": {secret.Text(plain), plain},
		"kek":  {kek, kek.Encode()},
	} {
		nested := struct {
			Public string
			Secret any
		}{"seen", hidden.value}
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s"} {
			fmt.Fprintf(&out, verb+"\n"+verb+"\n", hidden.value, nested)
		}
		fmt.Fprintln(&out, hidden.value, nested, []any{hidden.value}, map[string]any{"k": hidden.value}, fmt.Errorf("bad: %v", hidden.value))
		for _, handler := range []slog.Handler{
			slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil),
		} {
			slog.New(handler).Info("m", "secret", hidden.value, "nested", nested)
		}
		if name == "text" {
			if err := json.NewEncoder(&out).Encode(nested); err != nil {
				t.Fatal(err)
			}
			if err := json.NewEncoder(&out).Encode(map[string]any{"t": []secret.Text{plain}}); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(out.String(), hidden.plain) || strings.Contains(strings.ToLower(out.String()), fmt.Sprintf("%x", plain)) {
			t.Errorf("%s was printed:\n%s", name, out.String())
		}
		if !strings.Contains(out.String(), "[secret]") {
			t.Errorf("%s: nothing marks the secret:\n%s", name, out.String())
		}
	}
}

func TestASecretIsReadFromJSONAndRevealed(t *testing.T) {
	t.Parallel()
	var in struct {
		Token secret.Text `json:"token"`
		None  secret.Text `json:"none"`
	}
	if err := json.Unmarshal([]byte(`{"token":"hunter2"}`), &in); err != nil {
		t.Fatal(err)
	}
	if in.Token.Reveal() != "hunter2" || in.Token.Empty() || !in.None.Empty() {
		t.Errorf("read %q and %q", in.Token.Reveal(), in.None.Reveal())
	}
	err := json.Unmarshal([]byte(`{"token":{"hunter2":1}}`), &in)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error = %v, want one that repeats nothing", err)
	}
}
