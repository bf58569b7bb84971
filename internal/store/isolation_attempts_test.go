package store_test

import (
	"maps"

	"patchbay/internal/store"
)

// attempts puts the cases of several files together.
func attempts(tables ...map[string]attempt) map[string]attempt {
	all := map[string]attempt{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}

func one[T any](_ T, err error) (bool, error) { return err == nil, err }

func some[T any](l store.List[T], err error) (bool, error) { return len(l.Items) > 0, err }
