// Prints the exported names of the Go packages in some folders, one a line, for
// Tests/Gates/api_of_hosts.py, which sorts them.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"log"
	"os"
	"strings"
)

// text is that of a type, after a blank.
func text(kind ast.Expr) string {
	if kind == nil {
		return ""
	}
	return " " + types.ExprString(kind)
}

func signature(function ast.Expr) string {
	return strings.TrimPrefix(text(function), " func")
}

func members(owner, kind string, list []*ast.Field, said func(ast.Expr) string) {
	fmt.Println(owner, kind)
	for _, field := range list {
		tag := ""
		if field.Tag != nil {
			tag = " " + field.Tag.Value
		}
		if len(field.Names) == 0 {
			fmt.Println(owner + " embeds" + text(field.Type))
		}
		for _, name := range field.Names {
			fmt.Println(owner + "." + name.Name + said(field.Type) + tag)
		}
	}
}

func function(at string, found *ast.FuncDecl) {
	if found.Recv != nil {
		receiver := types.ExprString(found.Recv.List[0].Type)
		if !ast.IsExported(strings.TrimLeft(receiver, "*")) {
			return
		}
		at += "(" + receiver + ")."
	}
	fmt.Println(at + found.Name.Name + signature(found.Type))
}

func declared(at string, word token.Token, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		switch kind := spec.Type.(type) {
		case *ast.StructType:
			members(at+spec.Name.Name, "struct", kind.Fields.List, text)
		case *ast.InterfaceType:
			members(at+spec.Name.Name, "interface", kind.Methods.List, signature)
		default:
			alias := map[bool]string{true: " ="}[spec.Assign.IsValid()]
			fmt.Println(at + spec.Name.Name + " type" + alias + text(kind))
		}
	case *ast.ValueSpec:
		for place, name := range spec.Names {
			value := ""
			if word == token.CONST && place < len(spec.Values) {
				value = " =" + text(spec.Values[place])
			}
			fmt.Println(at + name.Name + " " + word.String() + text(spec.Type) + value)
		}
	}
}

func main() {
	isSource := func(file fs.FileInfo) bool { return !strings.HasSuffix(file.Name(), "_test.go") }
	for _, folder := range os.Args[1:] {
		packages, err := parser.ParseDir(token.NewFileSet(), folder, isSource, 0)
		if err != nil {
			log.Fatal(err)
		}
		for name, found := range packages {
			ast.PackageExports(found)
			for _, file := range found.Files {
				for _, one := range file.Decls {
					switch one := one.(type) {
					case *ast.FuncDecl:
						function(name+".", one)
					case *ast.GenDecl:
						for _, spec := range one.Specs {
							declared(name+".", one.Tok, spec)
						}
					}
				}
			}
		}
	}
}
