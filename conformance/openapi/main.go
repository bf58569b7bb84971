package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"patchbay/internal/openapi"
	"patchbay/internal/openapi/openapitest"
)

func main() {
	dir := flag.String("dir", "bin/openapi", "directory of the documents")
	verbose := flag.Bool("v", false, "print what failed")
	flag.Parse()
	if err := printTable(context.Background(), os.Stdout, *dir, *verbose, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// row counts one document.
type row struct {
	name, spec, size                   string
	operations, tools, accepted, trips int
	failures                           []string
}

// Goals of the table, in percent.
const (
	minTools = 98
	minTrips = 95
)

func printTable(ctx context.Context, out io.Writer, dir string, verbose bool, names []string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.*"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no documents in %s: run conformance/openapi/fetch: %w", dir, err)
	}
	fmt.Fprintln(out, "| document | version | MB | operations | tools | accepted | round trips |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|")
	sum := row{name: "all"}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if len(names) > 0 && !strings.Contains(strings.Join(names, " "), name) {
			continue
		}
		r, err := checkDocument(ctx, file)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.name = strings.ReplaceAll(name, "_", " ")
		r.printRow(out)
		sum.operations, sum.tools, sum.accepted, sum.trips = sum.operations+r.operations, sum.tools+r.tools, sum.accepted+r.accepted, sum.trips+r.trips
		if verbose {
			for _, failure := range r.failures {
				first, _, _ := strings.Cut(failure, "\n")
				fmt.Fprintln(out, "   ", first)
			}
		}
	}
	sum.printRow(out)
	if 100*sum.accepted < minTools*sum.operations || 100*sum.trips < minTrips*sum.operations {
		return errors.New("the goals are missed")
	}
	return nil
}

func (r row) printRow(out io.Writer) {
	count := func(n int) string {
		if r.spec != "" {
			return strconv.Itoa(n)
		}
		return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(max(r.operations, 1)))
	}
	fmt.Fprintf(out, "| %s | %s | %s | %d | %s | %s | %s |\n", r.name, r.spec, r.size, r.operations, count(r.tools), count(r.accepted), count(r.trips))
}

// checkDocument reads one document, and calls each of its operations.
func checkDocument(ctx context.Context, file string) (row, error) {
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
	r.spec, r.operations = d.Spec, len(d.Operations)
	server, err := openapitest.NewServer(document)
	if err != nil {
		return row{}, err
	}
	defer server.Close()
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
		}
	}
	return r, nil
}
