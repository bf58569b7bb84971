package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 4 && len(args) != 5 {
		return errors.New("usage: tally RESULTS REQUIREMENTS client|server LEAST [EXPECTED]")
	}
	results, list, leg := args[0], args[1], args[2]
	least, err := strconv.Atoi(args[3])
	if err != nil {
		return fmt.Errorf("LEAST: %w", err)
	}
	text, err := os.ReadFile(list) //nolint:gosec // named by whoever starts this
	if err != nil {
		return err
	}
	wanted, err := readRequired(string(text), leg)
	if err != nil {
		return fmt.Errorf("%s: %w", list, err)
	}
	var expected expectedChecks
	if len(args) == 5 {
		text, err := os.ReadFile(args[4])
		if err != nil {
			return err
		}
		if expected, err = readExpected(string(text), leg); err != nil {
			return fmt.Errorf("%s: %w", args[4], err)
		}
	}
	count, err := countResults(os.DirFS(results), leg, wanted, expected)
	if err != nil {
		return err
	}
	revision := strings.TrimSuffix(filepath.Base(list), ".yaml")
	_, err = fmt.Fprintf(out, "%d of the %d scenarios that %s requires of a %s pass.\n", count.passed, len(wanted), revision, leg)
	if len(count.expected) > 0 && err == nil {
		_, err = fmt.Fprintf(out, "As expected, one check or more does not pass in: %s.\n", strings.Join(count.expected, ", "))
	}
	if count.passed+len(count.expected) < least {
		return fmt.Errorf("too few: at least %d have to pass; these do not: %s", least, strings.Join(count.others, ", "))
	}
	return err
}
