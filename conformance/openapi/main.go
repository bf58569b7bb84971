package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"patchbay/conformance/patchbay"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/openapitest"
)

func main() {
	var t table
	flag.StringVar(&t.dir, "dir", "bin/openapi", "directory of the documents")
	flag.BoolVar(&t.verbose, "v", false, "print what failed")
	flag.Parse()
	t.patchbay = patchbay.Patchbay{URL: os.Getenv("PATCHBAY_URL"), Key: os.Getenv("PATCHBAY_KEY")}
	if err := t.printDocuments(context.Background(), os.Stdout, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// table is a run over the documents.
type table struct {
	dir      string
	verbose  bool
	patchbay patchbay.Patchbay // no URL: the clients of the SDKs are left out
}

// row counts one document.
type row struct {
	name, spec, size, licence          string
	operations, tools, accepted, trips int
	clients                            clientCounts
	failures                           []string
}

func (r *row) addCounts(other row) {
	r.operations, r.tools, r.accepted, r.trips = r.operations+other.operations, r.tools+other.tools, r.accepted+other.accepted, r.trips+other.trips
	for i := range r.clients.listed {
		r.clients.listed[i] += other.clients.listed[i]
	}
	r.clients.calls, r.clients.succeed = r.clients.calls+other.clients.calls, r.clients.succeed+other.clients.succeed
}

// Goals of the table, in percent.
const (
	minTools = 98
	minTrips = 95
)

func (t table) printDocuments(ctx context.Context, out io.Writer, names []string) error {
	files, err := filepath.Glob(filepath.Join(t.dir, "*.*"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no documents in %s: run conformance/openapi/fetch: %w", t.dir, err)
	}
	licences, err := readLicences("conformance/openapi/documents.txt")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| document | licence | version | MB | operations | accepted | round trips | both SDKs | calls |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|")
	sum := row{name: "all"}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		r, err := t.checkDocument(ctx, file)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.name, r.licence = strings.ReplaceAll(name, "_", " "), licences[name]
		t.printRow(out, r)
		sum.addCounts(r)
		if t.verbose {
			for _, failure := range r.failures {
				first, _, _ := strings.Cut(failure, "\n")
				fmt.Fprintln(out, "   ", first)
			}
		}
	}
	t.printRow(out, sum)
	if 100*sum.accepted < minTools*sum.operations || 100*sum.trips < minTrips*sum.operations {
		return errors.New("the goals are missed")
	}
	if c := sum.clients; t.patchbay.URL != "" && (c.listed != [2]int{sum.tools, sum.tools} || c.succeed < c.calls) {
		return errors.New("a client does not accept all tools, or a call through the gateway failed")
	}
	return nil
}

// readLicences returns the licences of the documents by their names.
func readLicences(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	licences := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[0] != "#" {
			licences[fields[0]] = strings.Join(fields[4:], " ")
		}
	}
	return licences, nil
}

func (t table) printRow(out io.Writer, r row) {
	count := func(n int) string {
		if r.spec != "" {
			return strconv.Itoa(n)
		}
		return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(max(r.operations, 1)))
	}
	listed, calls := "–", "–"
	if t.patchbay.URL != "" {
		listed = count(min(r.clients.listed[0], r.clients.listed[1]))
		calls = fmt.Sprintf("%d of %d", r.clients.succeed, r.clients.calls)
	}
	fmt.Fprintf(out, "| %s | %s | %s | %s | %d | %s | %s | %s | %s |\n", r.name, r.licence, r.spec, r.size, r.operations,
		count(r.accepted), count(r.trips), listed, calls)
}

// checkDocument reads one document, and calls each of its operations.
func (t table) checkDocument(ctx context.Context, file string) (row, error) {
	document, err := os.ReadFile(file)
	if err != nil {
		return row{}, err
	}
	r := row{size: fmt.Sprintf("%.1f", float64(len(document))/1e6)}
	d, err := openapi.Read(document, openapi.Options{URL: "https://api.example.com/openapi.json"})
	if err != nil {
		return row{}, err
	}
	tools := make([]*openapi.Tool, len(d.Operations))
	for i, o := range d.Operations {
		if tools[i], err = d.Tool(o); err != nil {
			r.failures = append(r.failures, fmt.Sprintf("%s: %v", o.Key(), err))
			continue
		}
		r.tools++
	}
	server, err := openapitest.NewServer(document)
	if err != nil {
		return row{}, err
	}
	defer server.Close()
	r.spec, r.operations = d.Spec, server.CountOperations()
	tripped := make([]bool, len(tools))
	for i, o := range d.Operations {
		if tools[i] == nil {
			continue
		}
		if err := openapitest.CheckTool(tools[i]); err != nil {
			r.failures = append(r.failures, fmt.Sprintf("%s: %v", o.Key(), err))
		} else {
			r.accepted++
		}
		if err := server.Trip(ctx, tools[i], o); err != nil {
			r.failures = append(r.failures, fmt.Sprintf("%s: %v", o.Key(), err))
		} else {
			r.trips++
			tripped[i] = true
		}
	}
	if t.patchbay.URL == "" {
		return r, nil
	}
	slug := strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))))
	counts, failures := checkClients(ctx, t.patchbay, slug, server, d, tools, tripped)
	r.clients, r.failures = counts, append(r.failures, failures...)
	return r, nil
}
