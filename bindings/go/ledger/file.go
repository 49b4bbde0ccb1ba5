package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	assay "assay.example/bindings/go"
)

// A sqliteFile is an address that opens an existing file and never creates one (STO-78).
type sqliteFile struct {
	// path is empty for a database in memory.
	path string
	// opened is the address that opens the file, created the one that also creates it.
	opened, created string
}

// fileOf parses an address of a driver of SQLite: a path or a URI, with options after "?".
func fileOf(address string) (*sqliteFile, error) {
	path, options, _ := strings.Cut(address, "?")
	values, err := url.ParseQuery(options)
	if err != nil {
		return nil, fmt.Errorf("%w: the options of the address: %v", assay.ErrArgument, err)
	}
	isURI := strings.HasPrefix(path, "file:")
	path = strings.TrimPrefix(path, "file:")
	if path == ":memory:" || values.Get("mode") == "memory" {
		return &sqliteFile{opened: address}, nil
	}
	if isURI {
		if path, err = url.PathUnescape(path); err != nil {
			return nil, fmt.Errorf("%w: the path of the address: %v", assay.ErrArgument, err)
		}
		path = strings.TrimPrefix(path, "//localhost")
		if strings.HasPrefix(path, "//") {
			path = path[2:]
		}
	}
	if !filepath.IsAbs(path) && !strings.HasPrefix(path, "./") {
		return nil, fmt.Errorf("%w: the path of a SQLite file is absolute, or begins with \"./\":"+
			" a relative one is another file in another folder", assay.ErrArgument)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	uri := func(mode string) string {
		values.Set("mode", mode)
		return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + values.Encode()
	}
	mode := values.Get("mode")
	if mode == "" || mode == "rwc" {
		mode = "rw"
	}
	return &sqliteFile{path: path, created: uri("rwc"), opened: uri(mode)}, nil
}

// makeFile creates the file if it is missing. It does nothing for other engines and for a pool
// of the host.
func (s *SQL) makeFile(ctx context.Context) error {
	if s.created == "" {
		return nil
	}
	db, err := sql.Open(s.driver, s.created)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	return err
}

// emptyLog truncates SQLite's write-ahead log, which has copies of deleted rows (STO-93).
// Parts that a reader uses remain until the next checkpoint.
func (s *SQL) emptyLog(parent context.Context) {
	if s.Engine == "sqlite" {
		ctx, cancel := context.WithTimeout(parent, 5*time.Second)
		defer cancel()
		_, _ = s.DB.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
}
