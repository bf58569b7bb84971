package operator

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"patchbay/internal/config"
	"patchbay/internal/fault"
)

// SupportBundleCommand collects diagnostics.
type SupportBundleCommand struct {
	config.ServerFlags
	config.DatabaseFlags
	config.LogFlags
	File string `placeholder:"PATH" help:"Where the bundle goes. It is not overwritten. - is standard output. Unset: patchbay-support-TIME.tar.gz in this folder."`
}

// Help returns the text below the flags.
func (SupportBundleCommand) Help() string {
	return "Collects diagnostics of this installation, without secrets: the version, the settings (of those that can hold a secret, whether they are set), " +
		"what the doctor says, how much is in each table and what waits, and of a running server with PATCHBAY_PRIVATE_ADDR its metrics and profiles. Run it with the server's environment. Look through it before you send it: " +
		"it names hosts and connectors."
}

// Run writes the bundle. What cannot be collected is listed in it and is no failure, because a bundle is made
// when something is wrong.
func (c SupportBundleCommand) Run(ctx context.Context, p IO) error {
	b := &supportBundle{made: time.Now().UTC(), version: p.Version}
	b.collectSecrets(c.ServerFlags, c.DatabaseFlags, p.Environ)
	b.addFile("version.txt", func(w io.Writer) error { return b.writeVersion(w) })
	b.addFile("settings.txt", func(w io.Writer) error { return c.writeSettings(w, p.Environ) })
	b.addFile("doctor.txt", func(w io.Writer) error {
		return c.runDoctor(ctx, IO{Stdout: w, Stderr: w, Environ: p.Environ, Version: p.Version})
	})
	b.addDatabase(ctx, c.DatabaseFlags)
	b.addRunning(ctx, c.PrivateAddr)
	return c.write(b, p)
}

// runDoctor adds the doctor's output. Problems that it finds are no failure of the bundle.
func (c SupportBundleCommand) runDoctor(ctx context.Context, p IO) error {
	err := DoctorCommand{c.ServerFlags, c.DatabaseFlags, c.LogFlags}.Run(ctx, p)
	if err != nil {
		_, err = fmt.Fprintln(p.Stdout, "There are problems.")
	}
	return err
}

func (c SupportBundleCommand) write(b *supportBundle, p IO) error {
	if c.File == "-" {
		return b.writeArchive(p.Stdout)
	}
	name := c.File
	if name == "" {
		name = "patchbay-support-" + b.made.Format("20060102T150405Z") + ".tar.gz"
	}
	file, err := newFile(name)
	if err != nil {
		return err
	}
	if err := b.writeArchive(file); err != nil {
		_ = file.Close()
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	p.printLine("%s", name)
	return nil
}

// supportBundle is the collected content.
type supportBundle struct {
	made    time.Time
	version string // of the program
	files   []bundleFile
	missing []string // what could not be collected, and why
	secrets *strings.Replacer
}

type bundleFile struct {
	name string
	body []byte
}

// addFile collects one file. A failure is noted in the bundle instead.
func (b *supportBundle) addFile(name string, write func(io.Writer) error) {
	var body bytes.Buffer
	if err := write(&body); err != nil {
		b.addMissing(name, err)
		return
	}
	b.files = append(b.files, bundleFile{name, body.Bytes()})
}

func (b *supportBundle) addMissing(name string, err error) {
	b.missing = append(b.missing, name+": "+strings.Join(fault.Sentences(err), " "))
}

// writeArchive writes the files, with a list of them first.
func (b *supportBundle) writeArchive(w io.Writer) error {
	zipped := gzip.NewWriter(w)
	packed := tar.NewWriter(zipped)
	for _, f := range append([]bundleFile{{"README.txt", b.listContents()}}, b.files...) {
		body := b.redact(f.body)
		header := &tar.Header{Name: "patchbay-support/" + f.name, Mode: 0o600, Size: int64(len(body)), ModTime: b.made, Format: tar.FormatPAX}
		if err := packed.WriteHeader(header); err != nil {
			return err
		}
		if _, err := packed.Write(body); err != nil {
			return err
		}
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

func (b *supportBundle) listContents() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "What helps to understand this installation of Patchbay, made %s.\n\n", b.made.Format(time.RFC3339))
	fmt.Fprint(&text, "It holds no credential, token, password or key, and nothing that agents sent or were answered. It names hosts, and in doctor.txt\n"+
		"connectors and tenants where there is a problem. Patchbay keeps no log of its own: add the lines of level WARN and ERROR from\nwhere yours goes, as from journalctl -u patchbay.\n\n")
	for _, f := range b.files {
		fmt.Fprintf(&text, "%-20s %s\n", f.name, bundleFiles[f.name])
	}
	for _, m := range b.missing {
		fmt.Fprintf(&text, "\nMissing: %s\n", m)
	}
	return text.Bytes()
}

// bundleFiles describes each file.
var bundleFiles = map[string]string{
	"version.txt":    "the program and the machine that the bundle was made with",
	"settings.txt":   "every setting; of those that can hold a secret, whether it is set",
	"doctor.txt":     "what patchbay doctor says",
	"database.json":  "the schema, the rows and bytes of each table, what waits",
	"metrics.txt":    "the running server's metrics",
	"goroutines.txt": "what the running server does, by stack",
	"heap.pb.gz":     "where the running server's memory was allocated, for go tool pprof",
}
