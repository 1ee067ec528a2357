package main_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports is the table of the architecture: which of our packages each folder
// may import, and which of the libraries that belong to one place. A new folder
// or a new arrow is a line here, with a reason in the commit.
var imports = map[string][]string{
	"cmd/sonde": {
		"config", "mcp", "query", "receiver", "storage", "storage/accounts", "storage/otlp", "cmd/sonde/demo",
		"grpc", "echo",
	},
	"cmd/sonde/demo":      nil,
	"config":              nil,
	"mcp":                 {"query", "query/answer", "storage", "storage/accounts", "storage/otlp", "echo"},
	"query":               {"storage", "storage/block", "storage/otlp"},
	"query/answer":        {"query", "storage", "storage/otlp"},
	"receiver":            {"storage", "storage/otlp", "grpc", "echo"},
	"storage":             {"storage/block", "storage/otlp", "bbolt"},
	"storage/accounts":    {"bbolt"},
	"storage/block":       {"storage/otlp"},
	"storage/otlp":        nil,
	"storage/storagetest": {"storage", "bbolt"},
}

// libraries that only some folders may name.
var libraries = map[string]string{
	"go.etcd.io/bbolt":           "bbolt",
	"google.golang.org/grpc":     "grpc",
	"github.com/labstack/echo":   "echo",
	"github.com/labstack/gommon": "echo",
}

func TestImportsFollowTheTable(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "testdata" || d.Name() == "bin" || d.Name() == "data") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		seen++
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		checkImports(t, path, filepath.ToSlash(filepath.Dir(rel)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatal("found no Go files")
	}
}

func checkImports(t *testing.T, path, folder string) {
	t.Helper()
	allowed, known := imports[folder]
	if !known {
		t.Errorf("%s: folder %q is not in the table", path, folder)
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Error(err)
			continue
		}
		if name := guarded(imported); name != "" && !slices.Contains(allowed, name) {
			t.Errorf("%s: %q may not import %q", path, folder, imported)
		}
	}
}

// guarded returns the name by which the table knows an import, "" for one that
// anyone may use.
func guarded(imported string) string {
	if ours, ok := strings.CutPrefix(imported, "sonde/"); ok {
		return ours
	}
	for prefix, name := range libraries {
		if imported == prefix || strings.HasPrefix(imported, prefix+"/") {
			return name
		}
	}
	return ""
}
