package ledger

import (
	"context"
	"errors"
	"strings"

	assay "assay.example/bindings/go"
)

// mode returns the mode of a take-back; by default it follows from the function.
func (r RevokeRequest) mode() GrantMode {
	switch {
	case r.GrantMode != "":
		return r.GrantMode
	case r.TakeBack != nil:
		return Lease
	}
	return None
}

// ---- internal: what the methods of ledger_calls.go end with

func (l *Ledger) revoked(
	ctx context.Context, request *request, takeBack TakeFunc, found *RevokeResult,
) error {
	called := effects{take: takeBack}
	if err := l.effects(ctx, request, called, found, &found.Result); err != nil {
		return err
	}
	return l.takeBack(ctx, found.Takes(), takeBack, request.mode(), &found.Result)
}

func (l *Ledger) applied(
	ctx context.Context, request *request, grant GrantFunc, takeBack TakeFunc,
	found *ApplyEventResult,
) error {
	called, mode := effects{grant: grant, take: takeBack}, request.mode()
	err := l.effects(ctx, request, called, found, &found.Result)
	if err != nil || mode == Transaction {
		return err
	}
	err = l.takeBack(ctx, found.Take, takeBack, mode, &found.Result)
	if err != nil || !found.Status.OK() {
		return err
	}
	return l.payOut(ctx, found.Grants(), grant, func(*Grant, *CompleteResult) {},
		func(why *Result) { found.Result = why.again() })
}

func (l *Ledger) tookBack(
	ctx context.Context, request *request, takeBack TakeFunc,
	found *ResumeExpiredRevocationsResult,
) error {
	if err := l.accepted(ctx, request, found, &found.Result); err != nil {
		return err
	}
	return l.takeBack(ctx, found.Takes, takeBack, Lease, &found.Result)
}

// effects runs the exchange of an event. If a part of the event waits for another one
// (STO-35), HTTPStatus is 503 and the error nil.
func (l *Ledger) effects(
	ctx context.Context, request *request, called effects, found any, said *Result,
) error {
	if err := l.read(ctx, request, called, found, said); err != nil {
		return err
	}
	if strings.HasPrefix(said.Status.String(), "unavailable.claim.") {
		*said = said.again()
		return nil
	}
	return said.Document.Err()
}

// takeBack calls the host's function for each take-back, and completes it in mode Lease.
func (l *Ledger) takeBack(
	ctx context.Context, takes []Take, takeBack TakeFunc, mode GrantMode, said *Result,
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
		completed, err := l.CompleteRevocation(ctx, &takes[i])
		if errors.Is(err, assay.ErrUnavailable) {
			*said = completed.Result.again()
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}
