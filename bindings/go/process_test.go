package assay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"assay.example/bindings/go/internal/libassay"
)

// Tests of the library in a host process: goroutines, Close, the garbage collector, memory.

// soakVariable is the environment variable with the number of verifications, 100,000 by
// default.
const soakVariable = "ASSAY_SOAK"

// eventually collects garbage until a condition is true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for i := 0; i < 200; i++ {
		runtime.GC()
		if is() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("not seen: %s", what)
}

// residentBytes returns the resident memory of the process after collections. Finalizers run
// concurrently, for a long time on a busy machine: it collects until the memory no longer
// shrinks.
func residentBytes(t testing.TB) int64 {
	t.Helper()
	const pageful = 64 << 10
	least := int64(math.MaxInt64)
	for i := 0; i < 20; i++ {
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
		debug.FreeOSMemory()
		text, err := os.ReadFile("/proc/self/statm")
		must(t, err)
		pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
		must(t, err)
		size := pages * int64(os.Getpagesize())
		if i > 1 && size > least-pageful {
			break
		}
		least = size
	}
	return least
}

// A worked is an accepted transaction of the table.
type worked struct {
	jws, product string
	now          int64
	config       []byte
}

func accepted(t testing.TB) worked {
	t.Helper()
	var found worked
	if folder := os.Getenv(evidenceVariable); folder != "" {
		found = readWorked(t, folder)
	} else {
		cases := theCases(t)
		each := cases.accepted(t, "verify_jws", KindTransaction)
		found = worked{jws: string(each.input(t, "jws")), now: *each.Now,
			config: cases.Verifiers[each.Verifier]}
	}
	verifier := found.verifier(t)
	defer verifier.Close()
	transaction, err := verifier.VerifyTransaction(ctx, found.jws, found.at())
	must(t, err)
	found.product = transaction.ProductID
	return found
}

// evidenceVariable names a folder with the evidence for a child process, which has no case
// table in memory.
const evidenceVariable = "ASSAY_TEST_EVIDENCE"

var workedFiles = [...]string{"config.json", "transaction.jws", "now"}

func (w worked) write(t testing.TB, folder string) {
	t.Helper()
	for i, text := range []string{string(w.config), w.jws, strconv.FormatInt(w.now, 10)} {
		must(t, os.WriteFile(filepath.Join(folder, workedFiles[i]), []byte(text), 0o600))
	}
}

func readWorked(t testing.TB, folder string) worked {
	t.Helper()
	var texts [len(workedFiles)]string
	for i, name := range workedFiles {
		text, err := os.ReadFile(filepath.Join(folder, name))
		must(t, err)
		texts[i] = string(text)
	}
	now, err := strconv.ParseInt(texts[2], 10, 64)
	must(t, err)
	return worked{config: []byte(texts[0]), jws: texts[1], now: now}
}

func (w worked) at() Option { return At(time.UnixMilli(w.now)) }

func (w worked) verifier(t testing.TB) *Verifier {
	t.Helper()
	verifier, err := NewVerifier(w.config)
	must(t, err)
	return verifier
}

// round verifies, refuses and decides once.
func (w worked) round(v *Verifier) error {
	transaction, err := v.VerifyTransaction(ctx, w.jws, w.at())
	if err != nil {
		return err
	}
	if transaction.ProductID != w.product {
		return fmt.Errorf("the product is %q", transaction.ProductID)
	}
	_, err = v.VerifyTransaction(ctx, w.jws[:len(w.jws)-4]+"AAAA", w.at())
	if err == nil || errors.Is(err, ErrClosed) {
		return fmt.Errorf("a broken signature: %w", err)
	}
	decision, err := v.Decide(ctx, []Evidence{transaction}, w.at())
	if err != nil {
		return err
	}
	if decision.Document().Kind() != KindDecision {
		return fmt.Errorf("the decision is %s", decision.Document().JSON())
	}
	return nil
}

// together runs work in goroutines and returns their first error.
func together(count int, work func() error) error {
	found := make([]error, count)
	var all sync.WaitGroup
	for i := 0; i < count; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			found[i] = work()
		}(i)
	}
	all.Wait()
	for _, err := range found {
		if err != nil {
			return err
		}
	}
	return nil
}

// closedWhile shuts something down while goroutines use it. Running calls must finish, later
// ones must return over, and nothing may crash.
func closedWhile(
	t *testing.T, count int, after time.Duration, over error, work func() error, shut func(),
) {
	t.Helper()
	started := make(chan struct{}, count)
	done := make(chan error)
	go func() {
		done <- together(count, func() error {
			started <- struct{}{}
			for {
				if err := work(); errors.Is(err, over) {
					return nil
				} else if err != nil {
					return err
				}
			}
		})
	}()
	for i := 0; i < count; i++ {
		<-started
	}
	time.Sleep(after)
	shut()
	must(t, <-done)
}

func TestGoroutines(t *testing.T) {
	w := accepted(t)
	verifier := w.verifier(t)
	defer verifier.Close()
	rounds := 150
	if libassay.Stressed || racing {
		rounds = 20
	}
	must(t, together(16, func() error {
		for i := 0; i < rounds; i++ {
			if err := w.round(verifier); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestCloseWhileOthersVerify(t *testing.T) {
	w := accepted(t)
	for i := 0; i < 20; i++ {
		verifier := w.verifier(t)
		closedWhile(t, 8, time.Duration(i)*50*time.Microsecond, ErrClosed,
			func() error { return w.round(verifier) }, verifier.Close)
	}
}

// Asserts that a document can be closed while others decide from it and read it.
func TestCloseOfADocumentInUse(t *testing.T) {
	w := accepted(t)
	verifier := w.verifier(t)
	defer verifier.Close()
	for i := 0; i < 40; i++ {
		transaction, err := verifier.VerifyTransaction(ctx, w.jws, w.at())
		must(t, err)
		closedWhile(t, 4, time.Duration(i)*20*time.Microsecond, ErrClosed, func() error {
			_, err := verifier.Decide(ctx, []Evidence{transaction}, w.at())
			if err == nil {
				_, _, err = transaction.Document().Text("kind")
			}
			return err
		}, transaction.Close)
	}
}

// Asserts that what is no longer referenced is freed, but not while its call runs.
func TestVerifierThatNobodyKeeps(t *testing.T) {
	w := accepted(t)
	must(t, together(4, func() error {
		for i := 0; i < 20; i++ {
			verifier, err := NewVerifier(w.config)
			if err != nil {
				return err
			}
			go runtime.GC()
			// The last reference to the verifier is the receiver of this call.
			if _, err := verifier.VerifyTransaction(ctx, w.jws, w.at()); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Asserts that evidence outlives its verifier, and that another verifier of the same
// configuration accepts it.
func TestEvidenceOutlivesItsVerifier(t *testing.T) {
	w := accepted(t)
	first := w.verifier(t)
	transaction, err := first.VerifyTransaction(ctx, w.jws, w.at())
	must(t, err)
	first.Close()
	second := w.verifier(t)
	defer second.Close()
	decision, err := second.Decide(ctx, []Evidence{transaction, transaction.Document()}, w.at())
	must(t, err)
	if len(decision.Evidence.Kinds) != 1 || decision.Evidence.Kinds[0] != "transaction" {
		t.Errorf("the evidence is %v", decision.Evidence.Kinds)
	}
}

// Asserts that goroutines can read one document at once.
func TestOneDocumentForMany(t *testing.T) {
	w := accepted(t)
	verifier := w.verifier(t)
	defer verifier.Close()
	document, err := verifier.Verify(ctx, KindTransaction, []byte(w.jws), w.at())
	must(t, err)
	must(t, together(8, func() error {
		for i := 0; i < 50; i++ {
			facts, err := document.Facts()
			if err != nil || facts.(*Transaction).ProductID != w.product {
				return fmt.Errorf("the facts are %v, %v", facts, err)
			}
			if text, _, err := document.Text("transaction.productId"); err != nil ||
				text != w.product {
				return fmt.Errorf("the text is %q, %v", text, err)
			}
		}
		return nil
	}))
}

// Asserts that a call does not start once its context is done, while others continue.
func TestDeadlineUnderLoad(t *testing.T) {
	w := accepted(t)
	verifier := w.verifier(t)
	defer verifier.Close()
	limited, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	must(t, together(4, func() error {
		for {
			_, err := verifier.VerifyTransaction(limited, w.jws, w.at())
			if err == context.DeadlineExceeded {
				return nil
			}
			if err != nil {
				return err
			}
		}
	}))
}

// Asserts in its own process that memory does not grow over verifications whose documents are
// never closed, and over verifiers that are never closed.
func TestSoak(t *testing.T) {
	if libassay.Stressed || racing {
		t.Skip("memory is measured without the race detector and garbage-collector stress")
	}
	count := 50_000
	if given := os.Getenv(soakVariable); given != "" {
		var err error
		count, err = strconv.Atoi(given)
		must(t, err)
	}
	w := accepted(t)
	if os.Getenv(evidenceVariable) == "" {
		folder := t.TempDir()
		w.write(t, folder)
		// One malloc arena: several fragment long before they are full.
		output, err := run(t, []string{evidenceVariable + "=" + folder, "MALLOC_ARENA_MAX=1"},
			os.Args[0], "-test.run=^TestSoak$", "-test.v", "-test.timeout=60m")
		t.Log(output)
		must(t, err)
		return
	}
	verifier := w.verifier(t)
	defer verifier.Close()
	verify := func(count int) {
		must(t, together(2, func() error {
			for i := 0; i < count/2; i++ {
				transaction, err := verifier.VerifyTransaction(ctx, w.jws, w.at())
				if err != nil {
					return err
				}
				if transaction.ProductID != w.product || transaction.ExpiresDate.IsZero() {
					return errors.New("the facts are others")
				}
				switch i % 8 {
				case 0:
					transaction.Close()
				case 1:
					if _, err := verifier.Decide(ctx, []Evidence{transaction}, w.at()); err != nil {
						return err
					}
				case 2:
					if _, err := verifier.Triage(ctx, []byte(w.jws), w.at()); err != nil {
						return err
					}
				}
			}
			return nil
		}))
	}
	verifiers := func(count int) {
		for i := 0; i < count; i++ {
			if err := w.round(w.verifier(t)); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The first rounds find the size to which garbage grows before it is collected, and during
	// the second the allocators take what they retain. How much they retain varies by a MiB
	// from round to round, but a leak raises the minimum again and again: more rounds detect a
	// leak better and noise less. Only the last rounds are compared: what the allocators take
	// once, after the first size was read, would otherwise count as growth in every round.
	const parts, most, slack = 5, 20, 2 << 20
	for warm := 0; warm < 2; warm++ {
		verify(count / parts)
		verifiers(300)
	}
	sizes := []int64{residentBytes(t)}
	for grown := int64(math.MaxInt64); grown > slack; {
		if len(sizes) > most {
			t.Fatalf("resident memory grows: by %d KiB in half of the last %d parts", grown>>10,
				2*parts)
		}
		begin := time.Now()
		verify(count / parts)
		verifiers(100)
		sizes = append(sizes, residentBytes(t))
		t.Logf("%d verifications more in %v: %d KiB, after %d KiB", count/parts,
			time.Since(begin).Round(time.Millisecond), sizes[len(sizes)-1]>>10, sizes[0]>>10)
		if len(sizes) > parts {
			last := sizes
			if len(last) > 2*parts {
				last = last[len(last)-2*parts:]
			}
			half := len(last) / 2
			grown = leastOf(last[half:]) - leastOf(last[:half])
		}
	}
}

func leastOf(sizes []int64) int64 {
	least := sizes[0]
	for _, size := range sizes {
		if size < least {
			least = size
		}
	}
	return least
}
