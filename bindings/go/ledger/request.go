package ledger

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"time"

	assay "assay.example/bindings/go"
)

// A request has the members of an operation, and the first error of making them.
type request struct {
	members  map[string]any
	evidence []assay.Evidence
	err      error
}

func asking(operation string) *request {
	return &request{members: map[string]any{"operation": operation}}
}

// put adds a member that is not zero.
func put[T comparable](r *request, name string, value T) {
	var none T
	if value != none {
		r.members[name] = value
	}
}

func (r *request) set(name string, value any) { r.members[name] = value }

// time adds a time that is not zero.
func (r *request) time(name string, value time.Time) {
	if !value.IsZero() {
		r.members[name] = value.UnixMilli()
	}
}

// list adds a list that is not nil.
func (r *request) list(name string, values []string) {
	if values != nil {
		r.members[name] = values
	}
}

// add adds further members, which replace members of the same name.
func (r *request) add(members map[string]any) {
	for name, value := range members {
		r.members[name] = value
	}
}

// mode returns the member grantMode, which may be one of the further members.
func (r *request) mode() GrantMode { return GrantMode(fmt.Sprint(r.members["grantMode"])) }

// make adds a text; if value is empty, octets random bytes as base64url.
func (r *request) make(name, value string, octets int) {
	if value == "" {
		var err error
		if value, err = random(octets); err != nil {
			r.err = err
		}
	}
	r.members[name] = value
}

// plan adds the members of an earlier result that the library reads.
func (r *request) plan(name string, plan *GetPlanResult) {
	if plan == nil {
		return
	}
	kept := map[string]any{
		"plan": plan.Plan, "expiresAtMs": nil, "readAtMs": plan.ReadAt.UnixMilli()}
	if !plan.ExpiresAt.IsZero() {
		kept["expiresAtMs"] = plan.ExpiresAt.UnixMilli()
	}
	r.members[name] = kept
}

// prove sets the given evidence, with a transaction verified from jws before it.
func (r *request) prove(
	ctx context.Context, ledger *Ledger, jws string, given []assay.Evidence,
) {
	r.evidence = given
	if jws == "" {
		return
	}
	transaction, err := ledger.verifier.VerifyTransaction(ctx, jws, assay.At(ledger.now()))
	if err != nil {
		r.err = err
		return
	}
	r.evidence = append([]assay.Evidence{transaction}, given...)
}

// random returns count random bytes as base64url.
func random(count int) (string, error) {
	octets := make([]byte, count)
	if _, err := rand.Read(octets); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(octets), nil
}
