package operator

import (
	"context"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/installation"
)

// removeSamples deletes the sample tenants.
func removeSamples(ctx context.Context, d *installation.Database, p IO) error {
	all, err := d.Store.System().Tenants(ctx)
	if err != nil {
		return err
	}
	removed := 0
	for _, t := range all {
		if !t.Sample {
			continue
		}
		if err := d.Store.System().DeleteTenant(ctx, t.ID); err != nil {
			return err
		}
		removed++
		p.printLine("Removed %s", t.Slug)
	}
	if removed == 0 {
		p.printLine("There is no sample data.")
	}
	return nil
}

// checkAlone refuses a database with organisations that are in use, unless the samples were asked for beside them.
func (c SeedCommand) checkAlone(ctx context.Context, d *installation.Database) error {
	if c.BesideOthers {
		return nil
	}
	all, err := d.Store.System().Tenants(ctx)
	if err != nil {
		return err
	}
	var others []string
	for _, t := range all {
		if t.Sample {
			continue
		}
		owned, err := d.Store.System().HasOwner(ctx, t.ID)
		if err != nil {
			return err
		}
		if owned {
			others = append(others, t.Slug)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return fault.Errorf(fault.Conflict, "This database has other organisations: %s. Use --beside-others to add sample data anyway.", strings.Join(others, ", "))
}
