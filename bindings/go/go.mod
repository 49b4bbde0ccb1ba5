module assay.example/bindings/go

go 1.19
