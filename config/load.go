package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
)

// FileName is the name of the settings file that is looked for when none is
// named: beside the data folder, then inside it.
const FileName = "sonde.yaml"

// NotSettings returns the environment variables that are ours and no settings.
func NotSettings() []string { return []string{"SONDE_MASTER_TOKEN", "SONDE_URL", "SONDE_TOKEN"} }

// Sources are where settings come from, weakest first.
type Sources struct {
	// File is the YAML file. With "", FileName beside the data folder (that of
	// flags and environment, else the default) is read if there is one, else
	// FileName inside it, else none.
	File string
	// FileRequired makes a File that doesn't exist an error.
	FileRequired bool
	// Environ is as from os.Environ. A variable that is set to nothing counts as
	// not set.
	Environ []string
	// Flags are the flags that were given, by Setting.Flag.
	Flags map[string]string
}

// Provenance says where each value came from, by key: "default", "file PATH",
// "env SONDE_NAME" or "flag --name". Variables of NotSettings that are set are
// in it under their own names.
type Provenance map[string]string

// layer is what one source gave, as text by key.
type layer struct {
	origin func(Setting) string
	values map[string]string
}

// Load returns the effective settings, which are valid, and where each came
// from. The error joins all that is wrong: unknown keys with the nearest known
// one, values that can't be read, and what Validate finds, each with its
// origin.
func Load(s Sources) (Config, Provenance, error) {
	table := Settings()
	flags, flagErr := flagLayer(table, s.Flags)
	environ, envErr := envLayer(table, s.Environ)

	path := s.File
	if path == "" {
		data := Default().Data
		for _, l := range []layer{environ, flags} {
			if d := l.values["data"]; d != "" {
				data = d
			}
		}
		path = findFile(data)
	}
	fromFile, fileErr := fileLayer(table, path, s.FileRequired)

	c, p, err := resolve(table, []layer{fromFile, environ, flags})
	if err = errors.Join(fileErr, envErr, flagErr, err); err != nil {
		return Config{}, nil, err
	}
	if err := c.validate(p); err != nil {
		return Config{}, nil, err
	}
	for _, name := range NotSettings() {
		if slices.ContainsFunc(s.Environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") && len(kv) > len(name)+1 }) {
			p[name] = "env " + name
		}
	}
	return c, p, nil
}

// findFile returns the settings file that belongs to a data folder, "" if there
// is none.
func findFile(data string) string {
	for _, path := range []string{filepath.Join(data, "..", FileName), filepath.Join(data, FileName)} {
		// One that can't be looked at is there: reading it will tell why.
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return ""
}

// resolve lays the layers over the defaults, the last one on top.
func resolve(table []Setting, layers []layer) (Config, Provenance, error) {
	c, p := Default(), Provenance{}
	var wrong []error
	for _, s := range table {
		p[s.Key] = "default"
		for _, l := range slices.Backward(layers) {
			given, ok := l.values[s.Key]
			if !ok {
				continue
			}
			p[s.Key] = l.origin(s)
			if err := s.value(&c).Set(given); err != nil {
				wrong = append(wrong, fmt.Errorf("%s (%s): %w", s.Key, p[s.Key], err))
			}
			break
		}
	}
	return c, p, errors.Join(wrong...)
}

func flagLayer(table []Setting, flags map[string]string) (layer, error) {
	l := layer{origin: func(s Setting) string { return "flag --" + s.Flag }, values: map[string]string{}}
	byFlag := func(s Setting) string { return s.Flag }
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		s, ok := settingOf(table, name, byFlag)
		if !ok {
			return l, fmt.Errorf("unknown flag --%s, nearest is --%s", name, nearest(name, table, byFlag))
		}
		l.values[s.Key] = flags[name]
	}
	return l, nil
}

func envLayer(table []Setting, environ []string) (layer, error) {
	l := layer{origin: func(s Setting) string { return "env " + s.Env }, values: map[string]string{}}
	byEnv := func(s Setting) string { return s.Env }
	var unknown []error
	k := koanf.New(".")
	err := k.Load(env.Provider(".", env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, given string) (string, any) {
			if given == "" || slices.Contains(NotSettings(), name) || isServiceLink(name, given) {
				return "", nil
			}
			s, ok := settingOf(table, name, byEnv)
			if !ok {
				unknown = append(unknown, fmt.Errorf("unknown environment variable %s, nearest is %s", name, nearest(name, table, byEnv)))
				return "", nil
			}
			return s.Key, given
		},
	}), nil)
	for key, given := range k.All() {
		l.values[key] = fmt.Sprint(given)
	}
	return l, errors.Join(append(unknown, err)...)
}

// isServiceLink reports whether a variable is one that Kubernetes puts into
// every container for a Service whose name starts with sonde.
func isServiceLink(name, given string) bool {
	return regexp.MustCompile(`_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$|_PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$`).MatchString(name) ||
		strings.HasSuffix(name, "_PORT") && regexp.MustCompile(`^(tcp|udp|sctp)://`).MatchString(given)
}

func fileLayer(table []Setting, path string, required bool) (layer, error) {
	l := layer{origin: func(Setting) string { return "file " + path }, values: map[string]string{}}
	if path == "" {
		return l, nil
	}
	k := koanf.New(".")
	err := k.Load(file.Provider(path), yaml.Parser())
	if errors.Is(err, fs.ErrNotExist) && !required {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("cannot read configuration %q: %w", path, err)
	}
	r := fileReader{table: table, path: path, values: l.values}
	r.section("", k.Raw())
	return l, errors.Join(r.wrong...)
}
