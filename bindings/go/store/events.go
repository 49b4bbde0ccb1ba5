package store

import (
	"context"
	"errors"
	"strings"
	"time"

	assay "assay.example/bindings/go"
)

// A RevokeRequest says what Apple took back, and how the host does.
type RevokeRequest struct {
	// The JWS of a transaction, or facts and documents of the ledger's verifier.
	JWS      string
	Evidence []assay.Evidence
	// Takes back. Without one carry Takes out yourself, and CompleteRevoke each.
	TakeBack TakeFunc
	// In Lease, TakeBack runs after the refund was noted, and may run again for the same take
	// after a crash, by DueTakes. In Transaction it writes with take.Tx, as a grant does.
	// Empty: Lease where there is a TakeBack, else None.
	Mode Mode
	// 22 to 64 characters: the same when a request is repeated; empty: a new one.
	Attempt string
	// "leaseMs".
	Options map[string]any
}

// Revoke notes what Apple took back, by a notification or newer evidence: RevokeWith without a
// function that takes it back. Act on Takes, and on nothing else.
func (l *Ledger) Revoke(ctx context.Context, evidence ...assay.Evidence) (*Revoked, error) {
	return l.RevokeWith(ctx, RevokeRequest{Evidence: evidence})
}

// RevokeWith notes what Apple took back, and takes it back. Of all deliveries of one refund one
// is told to.
func (l *Ledger) RevokeWith(ctx context.Context, revoke RevokeRequest) (*Revoked, error) {
	found := new(Revoked)
	mode, err := l.effects(ctx, "revoke", revoke, nil, found, &found.Result)
	if err != nil {
		return found, err
	}
	return found, l.takeBack(ctx, found.Takes(), revoke.TakeBack, mode, &found.Result)
}

// An EventRequest is a notification of Apple's, or purchases.
type EventRequest struct {
	RevokeRequest
	// Pays reversed refunds out again, as that of a ClaimRequest; with Lease and None under a
	// lease. Without one pay out Grants yourself, and Complete each.
	Grant GrantFunc
}

// ApplyEvent does what a notification of Apple's changes, in ledger and subscriptions: refunds
// are taken back, reversed ones are given again to the owner of the purchase. In whatever order
// and however often they come, the newest signed state stands (STO-33, STO-34). Answer Apple
// with HTTPStatus.
func (l *Ledger) ApplyEvent(ctx context.Context, event EventRequest) (*EventApplied, error) {
	found := new(EventApplied)
	mode, err := l.effects(ctx, "event.apply", event.RevokeRequest, event.Grant, found,
		&found.Result)
	if err != nil || mode == Transaction {
		return found, err
	}
	err = l.takeBack(ctx, found.Take, event.TakeBack, mode, &found.Result)
	if err != nil || event.Grant == nil || !found.Status.OK() {
		return found, err
	}
	for _, grant := range found.Grants() {
		err := event.Grant(ctx, grant)
		if errors.Is(err, ErrNotGranted) {
			continue
		} else if err != nil {
			return found, err
		}
		completed, err := l.Complete(ctx, grant, "")
		if errors.Is(err, assay.ErrUnavailable) {
			found.Result = completed.Result.again()
			return found, nil
		} else if err != nil {
			return found, err
		}
	}
	return found, nil
}

// DueTakes takes up at most 25 take-backs that nobody completed for so long: run it every
// minute, beside Due. Without takeBack carry Takes out yourself, and CompleteRevoke each.
func (l *Ledger) DueTakes(ctx context.Context, older time.Duration, takeBack TakeFunc) (
	*DueTakes, error,
) {
	request, err := with(map[string]any{"kind": "revoke.due", "olderMs": older.Milliseconds()},
		"", nil)
	if err != nil {
		return nil, err
	}
	found := new(DueTakes)
	if err := l.accepted(ctx, request, nil, found, &found.Result); err != nil {
		return found, err
	}
	return found, l.takeBack(ctx, found.Takes, takeBack, Lease, &found.Result)
}

// CompleteRevoke says that you took back (mode Lease). Twice is once.
func (l *Ledger) CompleteRevoke(ctx context.Context, take *Take) (*RevokeCompleted, error) {
	request := map[string]any{"kind": "revoke.complete", "purchaseKey": take.PurchaseKey,
		"takeId": take.ID, "fence": take.Fence}
	if take.Taken != nil {
		request["taken"] = *take.Taken
	}
	found := new(RevokeCompleted)
	return found, l.answer(ctx, request, nil, effects{}, found, &found.Result)
}

// effects reads what an event brought, also where one part of it waits for another (STO-35).
func (l *Ledger) effects(
	ctx context.Context, kind string, revoke RevokeRequest, grant GrantFunc, found any,
	said *Result,
) (Mode, error) {
	mode := revoke.Mode
	if mode == "" {
		if mode = None; revoke.TakeBack != nil {
			mode = Lease
		}
	}
	evidence, err := l.evidence(ctx, revoke.JWS, revoke.Evidence)
	if err != nil {
		return mode, err
	}
	request, err := with(map[string]any{"kind": kind, "mode": mode}, revoke.Attempt,
		revoke.Options)
	if err != nil {
		return mode, err
	}
	called := effects{grant: grant, take: revoke.TakeBack}
	if err := l.read(ctx, request, evidence, called, found, said); err != nil {
		return mode, err
	}
	if strings.HasPrefix(said.Status.String(), "unavailable.ledger.") {
		*said = said.again()
		return mode, nil
	}
	return mode, said.Document.Err()
}

// takeBack carries take-backs out, and completes them.
func (l *Ledger) takeBack(
	ctx context.Context, takes []Take, takeBack TakeFunc, mode Mode, said *Result,
) error {
	if takeBack == nil || mode == Transaction {
		return nil
	}
	for i := range takes {
		err := takeBack(ctx, &takes[i])
		if errors.Is(err, ErrNotGranted) || err == nil && mode != Lease {
			continue
		} else if err != nil {
			return err
		}
		completed, err := l.CompleteRevoke(ctx, &takes[i])
		if errors.Is(err, assay.ErrUnavailable) {
			*said = completed.Result.again()
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}
