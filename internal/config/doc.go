// Package config turns the program's flags and environment into checked settings.
//
// There are two layers. The flag structs ([DatabaseFlags], [ServerFlags], [LogFlags]) have the input, with the
// kong tags that name each flag and its variable. Commands of the program embed them. Check turns each into
// the struct that the program uses ([Database], [Server], [Log]), or into a fault that names every wrong
// variable and what is allowed. Nothing past Check reads the environment.
//
// A variable that is set to the empty string counts as unset: compose files and systemd units have such lines.
package config
