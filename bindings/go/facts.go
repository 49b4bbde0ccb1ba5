package assay

// A Kind is a kind of document, and of evidence.
type Kind string

// The kinds of evidence that Verify accepts.
const (
	KindTransaction           Kind = "transaction"
	KindRenewalInfo           Kind = "renewal-info"
	KindNotification          Kind = "notification"
	KindAppTransaction        Kind = "app-transaction"
	KindRealtimeRequest       Kind = "realtime-request"
	KindTransactionReceipt    Kind = "transaction-receipt"
	KindAppReceipt            Kind = "app-receipt"
	KindAttestReceipt         Kind = "attest-receipt"
	KindVerifyReceiptResponse Kind = "verify-receipt-response"
)

// The kinds of the other documents.
const (
	KindAttestation   Kind = "attestation"
	KindAssertion     Kind = "assertion"
	KindTriage        Kind = "triage"
	KindDecision      Kind = "decision"
	KindRisk          Kind = "risk"
	KindToken         Kind = "token"
	KindKeyset        Kind = "keyset"
	KindExchange      Kind = "exchange"
	KindConfiguration Kind = "configuration"
)

// A factsKind is the type of the facts of one kind of document, and their path in it.
type factsKind struct {
	new  func() Evidence
	path []string
}

// in returns the factsKind of a type at a path of members.
func in[T any, P interface {
	*T
	Evidence
}](path ...string) factsKind {
	return factsKind{func() Evidence { return P(new(T)) }, path}
}

var kinds = map[Kind]factsKind{
	KindTransaction:           in[Transaction]("transaction"),
	KindRenewalInfo:           in[RenewalInfo]("renewalInfo"),
	KindNotification:          in[Notification]("notification"),
	KindAppTransaction:        in[AppTransaction]("appTransaction"),
	KindRealtimeRequest:       in[RealtimeRequest]("realtimeRequest"),
	KindTransactionReceipt:    in[TransactionReceipt]("transactionReceipt"),
	KindAppReceipt:            in[AppReceipt]("appReceipt"),
	KindAttestReceipt:         in[AttestReceipt]("attestReceipt"),
	KindVerifyReceiptResponse: in[VerifyReceiptResponse]("verifyReceipt"),
	KindAttestation:           in[Attestation]("attestation"),
	KindAssertion:             in[Assertion]("assertion"),
	KindTriage:                in[Triage]("triage"),
	KindDecision:              in[Decision]("decision"),
	KindRisk:                  in[Risk]("risk"),
	KindToken:                 in[Token]("token"),
	KindKeyset:                in[IssuerKeys]("keyset"),
	KindExchange:              in[DeviceCheck]("exchange", "deviceCheck"),
}

// answerOfApple is the facts of a finished verifyReceipt exchange.
var answerOfApple = in[VerifyReceiptResponse]("exchange", "verifyReceipt")

// answerOfAppStore is the facts of a finished exchange with the App Store Server API.
var answerOfAppStore = in[AppStoreResponse]("exchange", "result")

// The facts of other exchanges.
var (
	revocation       = in[Revocation]("exchange", "revocation")
	refreshedReceipt = in[RefreshedReceipt]("exchange", "attestReceipt")
	inApplesWords    = in[VerifyReceiptAnswer]("exchange", "answer")
)

// factsKind returns the type and path of a document's facts, and whether it has any.
func (d *Document) factsKind() (found factsKind, there bool, err error) {
	found, there = kinds[d.Kind()]
	if d.Kind() != KindExchange {
		return found, there, nil
	}
	operation, _, err := d.Text("exchange.operation")
	if err != nil {
		return found, there, err
	}
	switch operation {
	case "call-verify-receipt":
		// A refusal has only Apple's status, which is no facts.
		return answerOfApple, d.OK(), nil
	case "check-revocation":
		return revocation, true, nil
	case "refresh-attest-receipt":
		return refreshedReceipt, true, nil
	case "answer-verify-receipt":
		return inApplesWords, true, nil
	}
	s := scanner{text: d.json}
	if s.seek("exchange") && s.seek("result") && !s.null() {
		return answerOfAppStore, true, nil
	}
	return found, there, nil
}

// finish sets Entitled, which follows from the status.
func (d *Decision) finish() error {
	d.Entitled = d.document.OK()
	return nil
}

// finish reads the unverified content, which is a member beside the triage.
func (t *Triage) finish() error {
	claims := new(UnverifiedContent)
	there, err := factsAt(t.document, claims, "unverified")
	if there {
		t.Unverified = claims
	}
	return err
}

// WorthVerifying reports whether to verify the blob before deciding anything.
func (t *Triage) WorthVerifying() bool {
	return t.document != nil && t.document.status.Family() == ErrPending
}

// Status returns the outcome: "pending.triage.verify-next", "rejected.triage.cracking-tool" …
// Its HTTPStatus is the one for the client if processing ends here.
func (t *Triage) Status() Status { return statusOf(t.document) }

// Allowed reports whether the verdict is allow.
func (r *Risk) Allowed() bool { return r.document != nil && r.document.OK() }

// Status returns the outcome: "ok", "rejected.risk.limited" … Its HTTPStatus is the one for
// the client: 200, 401 step-up, 403 deny, 429 limited.
func (r *Risk) Status() Status { return statusOf(r.document) }

// statusOf returns the status of a document; the one for a bug if there is none.
func statusOf(document *Document) Status {
	if document == nil {
		return statusNamed(internalBug)
	}
	return document.status
}
