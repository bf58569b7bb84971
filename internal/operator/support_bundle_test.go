package operator

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestSupportBundle_RedactsProxyPasswordOfSettings(t *testing.T) {
	t.Parallel()
	c := SupportBundleCommand{File: filepath.Join(t.TempDir(), "bundle.tar.gz")}
	c.DataDir = filepath.Join(t.TempDir(), "none")
	// The doctor quotes an invalid setting, with any secret in it.
	c.EgressProxy, c.BaseURL = "http://patch:proxy-word@127.0.0.1:9", "proxy-word"
	if err := c.Run(t.Context(), IO{Stdout: io.Discard, Stderr: io.Discard, Environ: []string{"PATCHBAY_proxy-word=x"}}); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(c.File)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("proxy-word")) || !bytes.Contains(text, []byte("PATCHBAY_[removed] is set")) {
		t.Errorf("the bundle says:\n%s", text)
	}
}
