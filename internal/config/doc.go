// Package config turns the flags and the environment of the program into checked settings.
//
// There are two layers. The flag structs ([DatabaseFlags], [ServerFlags], [LogFlags]) hold what was typed, with the
// kong tags that name each flag and its variable; cmd/server embeds them in its commands. Check turns each into the
// struct the program works with ([Database], [Server], [Log]), or into a fault that names every variable that is
// wrong and says what is legal. Nothing past Check reads the environment.
//
// A variable that is set to the empty string counts as unset: compose files and systemd units write such lines.
package config
