module ask

go 1.19

require (
	assay.example/bindings/go v0.0.0
	github.com/mattn/go-sqlite3 v1.14.16
)

replace assay.example/bindings/go => ../../../bindings/go
