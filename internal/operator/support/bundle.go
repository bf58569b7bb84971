package support

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
	"patchbay/internal/operator/doctor"
)

// Options are the settings of the installation.
type Options struct {
	Server   config.ServerFlags
	Database config.DatabaseFlags
	Log      config.LogFlags
	Environ  []string
	Version  string // of the program
}

// Collect collects a bundle. What cannot be collected is listed in it and is no failure, because a bundle is made
// when something is wrong.
func Collect(ctx context.Context, o Options) *Bundle {
	b := &Bundle{made: time.Now().UTC(), version: o.Version}
	b.collectSecrets(o.Server, o.Database, o.Environ)
	b.addFile("version.txt", b.writeVersion)
	b.addFile("settings.txt", o.writeSettings)
	b.addFile("doctor.txt", func(w io.Writer) error { return o.runDoctor(ctx, w) })
	b.addDatabase(ctx, o.Database)
	b.addRunning(ctx, o.Server.PrivateAddr)
	return b
}

// runDoctor adds the doctor's output. Problems that it finds are no failure of the bundle.
func (o Options) runDoctor(ctx context.Context, w io.Writer) error {
	problems := doctor.Run(ctx, doctor.Options{
		Server: o.Server, Database: o.Database, Log: o.Log, Environ: o.Environ, Version: o.Version, Out: w,
	})
	if problems == 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, "There are problems.")
	return err
}

// Bundle is the collected content.
type Bundle struct {
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

// FileName is the name of the bundle's file, with the time.
func (b *Bundle) FileName() string {
	return "patchbay-support-" + b.made.Format("20060102T150405Z") + ".tar.gz"
}

// addFile collects one file. A failure is noted in the bundle instead.
func (b *Bundle) addFile(name string, write func(io.Writer) error) {
	var body bytes.Buffer
	if err := write(&body); err != nil {
		b.addMissing(name, err)
		return
	}
	b.files = append(b.files, bundleFile{name, body.Bytes()})
}

func (b *Bundle) addMissing(name string, err error) {
	b.missing = append(b.missing, name+": "+strings.Join(fault.Sentences(err), " "))
}

// Write writes the files as an archive, with a list of them first.
func (b *Bundle) Write(w io.Writer) error {
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

func (b *Bundle) listContents() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "Diagnostics of a Patchbay installation, created %s.\n\n", b.made.Format(time.RFC3339))
	fmt.Fprint(&text, "It contains no credentials, tokens, passwords or keys, and no calls or results of agents. It names hosts, and in doctor.txt\n"+
		"connectors and tenants with problems. Patchbay stores no log: add the WARN and ERROR lines from where yours goes,\nsuch as journalctl -u patchbay.\n\n")
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
	"version.txt":    "the program and the machine",
	"settings.txt":   "every setting; for those that can hold a secret, only whether it is set",
	"doctor.txt":     "the output of patchbay doctor",
	"database.json":  "the schema, the rows and bytes of each table, and the queues",
	"metrics.txt":    "the running server's metrics",
	"goroutines.txt": "the running server's goroutines, by stack",
	"heap.pb.gz":     "the running server's heap profile, for go tool pprof",
}
