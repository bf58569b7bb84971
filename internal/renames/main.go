package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sync/errgroup"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rename-only:", err)
		os.Exit(1)
	}
}

// run compares a commit, HEAD unless a second one is named, with its base.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) < 1 || len(args) > 2 {
		return fmt.Errorf("give the base commit, and another one than HEAD after it")
	}
	commits := [2]string{args[0], "HEAD"}
	if len(args) == 2 {
		commits[1] = args[1]
	}
	c, err := compareCommits(ctx, ".", commits)
	if err != nil {
		return err
	}
	slices.Sort(c.wrong)
	for _, w := range c.wrong {
		fmt.Fprintln(out, w)
	}
	if len(c.wrong) > 0 {
		return fmt.Errorf("%d places are more than a renaming", len(c.wrong))
	}
	fmt.Fprintf(out, "%d identifiers are renamed and %d files moved; nothing else is different\n", len(c.renamed), len(c.moved))
	return nil
}

// compareCommits compares two commits of a repository.
func compareCommits(ctx context.Context, repository string, commits [2]string) (*comparison, error) {
	var trees [2]*tree
	var load errgroup.Group
	for i, commit := range commits {
		dir, err := os.MkdirTemp("", "rename-only-")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		load.Go(func() (err error) {
			trees[i], err = loadTree(ctx, repository, commit, dir)
			return err
		})
	}
	if err := load.Wait(); err != nil {
		return nil, err
	}
	return compare(trees[0], trees[1])
}
