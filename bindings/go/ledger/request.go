package ledger

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"

	assay "assay.example/bindings/go"
)

// A request is what is asked of the library, and what failed while it was made.
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

// list adds one that is not nil.
func (r *request) list(name string, values []string) {
	if values != nil {
		r.members[name] = values
	}
}

// add puts further members over those that are there.
func (r *request) add(members map[string]any) {
	for name, value := range members {
		r.members[name] = value
	}
}

// mode is the one that is asked for, which may be one of the further members.
func (r *request) mode() GrantMode { return GrantMode(fmt.Sprint(r.members["grantMode"])) }

// make adds a text that is made of so many random octets unless it is given.
func (r *request) make(name, value string, octets int) {
	if value == "" {
		var err error
		if value, err = random(octets); err != nil {
			r.err = err
		}
	}
	r.members[name] = value
}

// plan adds what the library reads of an earlier answer.
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

// prove takes evidence that was given, or makes it of a text.
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

// random is so many random octets as base64url.
func random(count int) (string, error) {
	octets := make([]byte, count)
	if _, err := rand.Read(octets); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(octets), nil
}
