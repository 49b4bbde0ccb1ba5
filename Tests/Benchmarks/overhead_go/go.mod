module overhead

go 1.19

require assay v0.0.0

replace assay => ../../../bindings/go
