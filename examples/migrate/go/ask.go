package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	assay "assay.example/bindings/go"
	"assay.example/bindings/go/ledger"
)

const (
	limited      = "unavailable.app-store.local-rate-limit"
	unauthorized = "rejected.app-store.unauthorized"
	elsewhere    = "unsupported.app-store.environment"
	// The questions at once, and the most texts of a row.
	atOnce   = 8
	textsMax = 32
)

// A line is one of ask.ndjson, and with a status one of unknown-to-apple.ndjson.
type line struct {
	Environment           string          `json:"environment"`
	OriginalTransactionID string          `json:"originalTransactionId,omitempty"`
	TransactionID         string          `json:"transactionId,omitempty"`
	Account               *string         `json:"account"`
	Reason                string          `json:"reason"`
	Operation             string          `json:"operation"`
	Rows                  json.RawMessage `json:"rows"`
	Status                string          `json:"status,omitempty"`
}

// A row is one of answers.ndjson.
type row struct {
	Account               *string  `json:"account"`
	Environment           string   `json:"environment"`
	OriginalTransactionID string   `json:"originalTransactionId"`
	Evidences             []string `json:"evidences"`
}

// Ids are what a signed text says of a purchase.
type ids struct {
	OriginalTransactionID string `json:"originalTransactionId"`
	TransactionID         string `json:"transactionId"`
}

// A reply is what Apple said to one request.
type reply struct {
	Status int `json:"status"`
	Body   struct {
		Text string `json:"text"`
	} `json:"body"`
}

// A page is the part of Apple's answers that is signed.
type page struct {
	SignedTransactions []string `json:"signedTransactions"`
	Data               []struct {
		LastTransactions []struct {
			SignedTransactionInfo string `json:"signedTransactionInfo"`
			SignedRenewalInfo     string `json:"signedRenewalInfo"`
		} `json:"lastTransactions"`
	} `json:"data"`
}

// permit waits for a permit of the ledger.
func permit(ctx context.Context, shop *ledger.Ledger, asked line) error {
	for {
		_, err := shop.AcquireRatePermit(ctx, ledger.AcquireRatePermitRequest{
			AppStoreOperation: asked.Operation,
			Environment:       assay.Environment(asked.Environment),
		})
		var refusal *assay.Error
		if !errors.As(err, &refusal) || refusal.Name != limited {
			return err
		}
	}
}

// question returns the rows of an answer; or none, and the status. The error is Apple's absence,
// or its refusal of the key.
func question(
	ctx context.Context, shop *ledger.Ledger, send assay.StepRunner, asked line,
) ([]row, string, error) {
	if asked.Environment != "Production" && asked.Environment != "Sandbox" {
		return nil, elsewhere, nil
	}
	if err := permit(ctx, shop, asked); err != nil {
		return nil, "", err
	}
	id := asked.OriginalTransactionID
	if id == "" {
		id = asked.TransactionID
	}
	request := map[string]any{
		"operation": asked.Operation, "environment": asked.Environment, "transactionId": id,
	}
	if asked.Operation == "get-transaction-history" {
		request["options"] = map[string]int{"pages": 100}
	}
	exchange, err := shop.Verifier().Exchange(ctx, request, nil)
	if err != nil {
		return nil, "", err
	}
	var replies []any
	document, err := exchange.Run(ctx, func(ctx context.Context, x *assay.Exchange) (any, error) {
		said, err := send(ctx, x)
		replies = append(replies, said)
		return said, err
	})
	if err != nil {
		return nil, "", err
	}
	switch refusal := document.Err(); {
	case refusal == nil:
	case errors.Is(refusal, assay.ErrUnavailable), errors.Is(refusal, assay.ErrConfig),
		document.Status().String() == unauthorized:
		return nil, "", refusal
	default:
		return nil, document.Status().String(), nil
	}
	rows, err := rowsOf(asked, id, replies)
	if len(rows) == 0 {
		return nil, document.Status().String(), err
	}
	return rows, "", err
}

// rowsOf returns the rows of the purchases that were asked. Every text was verified. An answer
// has the customer's other purchases, too, and the line says nothing about whose those are.
func rowsOf(asked line, id string, replies []any) ([]row, error) {
	var texts []string
	said, of := map[string]ids{}, map[string]bool{}
	for _, each := range replies {
		found, err := signed(each)
		if err != nil {
			return nil, err
		}
		for _, text := range found {
			if _, known := said[text]; known || text == "" {
				continue
			}
			told, err := payload(text)
			if err != nil {
				return nil, err
			}
			texts, said[text] = append(texts, text), told
			if id == told.OriginalTransactionID || id == told.TransactionID {
				of[told.OriginalTransactionID] = true
			}
		}
	}
	var rows []row
	for _, text := range texts {
		original := said[text].OriginalTransactionID
		if !of[original] {
			continue
		}
		if len(rows) == 0 || len(rows[len(rows)-1].Evidences) == textsMax {
			rows = append(rows, row{asked.Account, asked.Environment, original, nil})
		}
		last := &rows[len(rows)-1]
		last.Evidences = append(last.Evidences, text)
	}
	return rows, nil
}

// signed returns the signed texts of a reply.
func signed(given any) ([]string, error) {
	text, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	var said reply
	if err := json.Unmarshal(text, &said); err != nil || said.Status != 200 {
		return nil, err
	}
	var found page
	if err := json.Unmarshal([]byte(said.Body.Text), &found); err != nil {
		return nil, err
	}
	texts := found.SignedTransactions
	for _, group := range found.Data {
		for _, last := range group.LastTransactions {
			texts = append(texts, last.SignedTransactionInfo, last.SignedRenewalInfo)
		}
	}
	return texts, nil
}

func payload(text string) (ids, error) {
	var told ids
	_, rest, _ := strings.Cut(text, ".")
	middle, _, _ := strings.Cut(rest, ".")
	octets, err := base64.RawURLEncoding.DecodeString(middle)
	if err != nil {
		return told, err
	}
	return told, json.Unmarshal(octets, &told)
}

// An outcome is the two files, and the place that they have reached: questions, and the bytes of
// each.
type outcome struct {
	folder string
	place  [3]int64
	files  [2]*os.File
}

func open(folder string) (*outcome, error) {
	o := &outcome{folder: folder}
	text, err := os.ReadFile(o.path("asked.json"))
	if err == nil {
		err = json.Unmarshal(text, &o.place)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for at, name := range []string{"answers.ndjson", "unknown-to-apple.ndjson"} {
		if err != nil {
			return nil, err
		}
		o.files[at], err = os.OpenFile(o.path(name), os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			err = o.files[at].Truncate(o.place[at+1])
		}
	}
	return o, err
}

func (o *outcome) path(name string) string { return filepath.Join(o.folder, name) }

// write writes the answers to some questions, then notes the place, by a rename: a kill before
// it repeats the questions since the last.
func (o *outcome) write(questions int, lines [2][]any) error {
	for at, file := range o.files {
		for _, each := range lines[at] {
			text, err := json.Marshal(each)
			if err != nil {
				return err
			}
			written, err := file.WriteAt(append(text, '\n'), o.place[at+1])
			if err != nil {
				return err
			}
			o.place[at+1] += int64(written)
		}
		if err := file.Sync(); err != nil {
			return err
		}
	}
	o.place[0] += int64(questions)
	text, err := json.Marshal(o.place)
	if err != nil {
		return err
	}
	if err := os.WriteFile(o.path("asked.json.part"), text, 0o600); err != nil {
		return err
	}
	return os.Rename(o.path("asked.json.part"), o.path("asked.json"))
}

// ask asks Apple every line of ask.ndjson in a folder. It returns how many have been asked.
func ask(
	ctx context.Context, folder string, shop *ledger.Ledger, send assay.StepRunner, chunk int,
) (int, error) {
	found, err := open(folder)
	if err != nil {
		return 0, err
	}
	list, err := os.Open(found.path("ask.ndjson"))
	if err != nil {
		return 0, err
	}
	defer list.Close()
	lines := bufio.NewScanner(list)
	var waiting []line
	for at := int64(0); lines.Scan(); at++ {
		if at < found.place[0] {
			continue
		}
		var next line
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			return 0, err
		}
		if waiting = append(waiting, next); len(waiting) == chunk {
			if err := found.answer(ctx, shop, send, waiting); err != nil {
				return 0, err
			}
			waiting = nil
		}
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	err = found.answer(ctx, shop, send, waiting)
	return int(found.place[0]), err
}

// answer asks some questions, a few at once, and writes what came.
func (o *outcome) answer(
	ctx context.Context, shop *ledger.Ledger, send assay.StepRunner, waiting []line,
) error {
	rows, errs := make([][]row, len(waiting)), make([]error, len(waiting))
	var group sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for at := range waiting {
		free <- struct{}{}
		group.Add(1)
		go func(at int) {
			defer group.Done()
			rows[at], waiting[at].Status, errs[at] = question(ctx, shop, send, waiting[at])
			<-free
		}(at)
	}
	group.Wait()
	var lines [2][]any
	for at := range waiting {
		if errs[at] != nil {
			return errs[at]
		}
		for _, each := range rows[at] {
			lines[0] = append(lines[0], each)
		}
		if waiting[at].Status != "" {
			lines[1] = append(lines[1], waiting[at])
		}
	}
	return o.write(len(waiting), lines)
}
