package assay

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"
)

// constants are the values of the package's typed text constants, by type.
func constants(t *testing.T) map[string]map[string]bool {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), ".", func(file fs.FileInfo) bool {
		return !strings.HasSuffix(file.Name(), "_test.go")
	}, 0)
	must(t, err)
	found := map[string]map[string]bool{}
	ast.Inspect(packages["assay"], func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || spec.Type == nil {
			return true
		}
		kind, ok := spec.Type.(*ast.Ident)
		if !ok {
			return true
		}
		if found[kind.Name] == nil {
			found[kind.Name] = map[string]bool{}
		}
		for _, value := range spec.Values {
			if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				must(t, err)
				found[kind.Name][text] = true
			}
		}
		return true
	})
	return found
}

// Every value in the table of Apple's and the library's sets has a constant of its type.
func TestEnums(t *testing.T) {
	table, err := os.ReadFile("../../docs/spec/names.tsv")
	must(t, err)
	known, set, values := constants(t), "", 0
	for _, line := range strings.Split(string(table), "\n") {
		row := strings.Split(line, "\t")
		switch {
		case line == "" || line[0] == '#':
		case row[0] != "":
			set = row[0]
		default:
			values++
			if !known[set][row[2]] {
				t.Errorf("%q has no constant of %s", row[2], set)
			}
		}
	}
	if values < 150 {
		t.Errorf("the table has %d values", values)
	}
}
