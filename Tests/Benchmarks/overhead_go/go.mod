module overhead

go 1.19

require assay.example/bindings/go v0.0.0

replace assay.example/bindings/go => ../../../bindings/go
