package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sonde/config"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Print the effective settings and where each came from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, from, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			return c.Render(a.std.out, from)
		},
	}
	addSettings(c.Flags())
	return c
}

// addSettings registers a flag for each setting, and the one for the file.
func addSettings(f *pflag.FlagSet) {
	f.String("config", "", "YAML file of settings (default "+config.FileName+" beside or in the data folder, if there is one)")
	for _, s := range config.Settings() {
		f.VarPF(&settingFlag{text: s.Default, kind: s.Type}, s.Flag, "", fmt.Sprintf("%s [%s]", s.Usage, s.Env)).NoOptDefVal = noValue(s)
	}
}

// noValue is what a flag without a value means.
func noValue(s config.Setting) string {
	if s.Type == "bool" {
		return "true"
	}
	return ""
}

// settingFlag carries a flag's text to config, which reads and checks it.
type settingFlag struct{ text, kind string }

func (f *settingFlag) String() string     { return f.text }
func (f *settingFlag) Type() string       { return f.kind }
func (f *settingFlag) Set(s string) error { f.text = s; return nil }

// loadConfig resolves the settings for a command from its flags, the
// environment and the file.
func (a *app) loadConfig(cmd *cobra.Command) (config.Config, config.Provenance, error) {
	s := config.Sources{Environ: a.environ, Flags: map[string]string{}}
	known := map[string]bool{}
	for _, setting := range config.Settings() {
		known[setting.Flag] = true
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if known[f.Name] {
			s.Flags[f.Name] = f.Value.String()
		}
	})
	if f := cmd.Flags().Lookup("config"); f != nil && f.Changed {
		s.File, s.FileRequired = f.Value.String(), true
	}
	return config.Load(s)
}
