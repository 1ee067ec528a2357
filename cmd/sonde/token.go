package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sonde/config"
)

func (a *app) tokenCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Create, list and revoke bearer tokens",
		Long: `Create, list and revoke bearer tokens.

They work on the data folder, whether a server runs on it or not.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.PersistentFlags().String("data", "", "data folder (default as for serve)")
	c.AddCommand(a.tokenCreateCommand(), a.tokenListCommand(), a.tokenRevokeCommand())
	return c
}

// withAdmin runs f on the data folder that the flags, the environment or the
// file name.
func (a *app) withAdmin(cmd *cobra.Command, f func(context.Context, tokenAdmin) error) (err error) {
	c, _, err := a.loadConfig(cmd)
	if err != nil {
		return err
	}
	admin, err := openAdmin(cmd.Context(), c.Data)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := admin.Close(); err == nil {
			err = closeErr
		}
	}()
	return f(cmd.Context(), admin)
}

func (a *app) tokenCreateCommand() *cobra.Command {
	var r tokenRequest
	var expires string
	c := &cobra.Command{
		Use:   "create LOGIN | create --ingest NAME",
		Short: "Print a new token, alone on standard output; it can't be shown again",
		Example: `  sonde token create anna --expires 90d --label laptop
  sonde token create --ingest shop-cluster`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case r.Ingest != "" && len(args) > 0:
				return fmt.Errorf("a token is for a LOGIN or for --ingest NAME, not both")
			case r.Ingest == "" && len(args) != 1:
				return fmt.Errorf("want one LOGIN, or --ingest NAME")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				r.Login = args[0]
			}
			if expires != "" {
				d, err := config.ParseDuration(expires)
				if err != nil || d <= 0 {
					return fmt.Errorf("--expires: got %q, want a duration such as 90d or 12h", expires)
				}
				r.Expires = time.Now().Add(d)
			}
			return a.withAdmin(cmd, func(ctx context.Context, admin tokenAdmin) error {
				created, err := admin.create(ctx, r)
				if err != nil {
					return err
				}
				fmt.Fprintln(a.std.out, created.Secret)
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&r.Ingest, "ingest", "", "make a token that may export telemetry and nothing else, under this name")
	f.StringVar(&r.Label, "label", "", "what the token is for")
	f.StringVar(&expires, "expires", "", "lifetime, such as 90d or 12h (default: no end)")
	return c
}

func (a *app) tokenListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List all tokens, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withAdmin(cmd, func(ctx context.Context, admin tokenAdmin) error {
				tokens, err := admin.list(ctx)
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(a.std.out, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "ID\tFOR\tLABEL\tCREATED\tEXPIRES\tLAST USED")
				for _, t := range tokens {
					owner := t.Login
					if t.Ingest != "" {
						owner = "ingest " + t.Ingest
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, owner, t.Label, minute(t.Created), minute(t.Expires), minute(t.LastUse))
				}
				return w.Flush()
			})
		},
	}
}

func (a *app) tokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a token at once",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withAdmin(cmd, func(ctx context.Context, admin tokenAdmin) error {
				t, err := admin.revoke(ctx, args[0])
				if err != nil {
					return err
				}
				fmt.Fprintf(a.std.err, "revoked %s\n", t.ID)
				return nil
			})
		},
	}
}

// minute formats a time for a table, "-" for none.
func minute(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}
