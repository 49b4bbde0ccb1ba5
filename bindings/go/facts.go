package assay

// A Kind is a kind of document, and of evidence.
type Kind string

// Kinds of evidence, for Verify.
const (
	KindTransaction        Kind = "transaction"
	KindRenewal            Kind = "renewal"
	KindNotification       Kind = "notification"
	KindAppTransaction     Kind = "app-transaction"
	KindRealtimeRequest    Kind = "realtime-request"
	KindTransactionReceipt Kind = "transaction-receipt"
	KindAppReceipt         Kind = "app-receipt"
	KindAttestReceipt      Kind = "attest-receipt"
	KindVerifyReceipt      Kind = "verify-receipt"
)

// Kinds of the other documents.
const (
	KindAttestation   Kind = "attestation"
	KindAssertion     Kind = "assertion"
	KindTriage        Kind = "triage"
	KindDecision      Kind = "decision"
	KindRisk          Kind = "risk"
	KindExchange      Kind = "exchange"
	KindConfiguration Kind = "configuration"
)

// A factsKind is how the facts of one kind of document are made, and where the
// document has them.
type factsKind struct {
	new  func() Evidence
	path []string
}

var kinds = map[Kind]factsKind{
	KindTransaction:        {func() Evidence { return new(Transaction) }, []string{"transaction"}},
	KindRenewal:            {func() Evidence { return new(Renewal) }, []string{"renewal"}},
	KindNotification:       {func() Evidence { return new(Notification) }, []string{"notification"}},
	KindAppTransaction:     {func() Evidence { return new(AppTransaction) }, []string{"appTransaction"}},
	KindRealtimeRequest:    {func() Evidence { return new(RealtimeRequest) }, []string{"realtimeRequest"}},
	KindTransactionReceipt: {func() Evidence { return new(TransactionReceipt) }, []string{"transactionReceipt"}},
	KindAppReceipt:         {func() Evidence { return new(AppReceipt) }, []string{"appReceipt"}},
	KindAttestReceipt:      {func() Evidence { return new(AttestReceipt) }, []string{"attestReceipt"}},
	KindVerifyReceipt:      {func() Evidence { return new(VerifyReceiptAnswer) }, []string{"verifyReceipt"}},
	KindAttestation:        {func() Evidence { return new(Attestation) }, []string{"attestation"}},
	KindAssertion:          {func() Evidence { return new(Assertion) }, []string{"assertion"}},
	KindTriage:             {func() Evidence { return new(Triage) }, []string{"triage"}},
	KindDecision:           {func() Evidence { return new(Decision) }, []string{"decision"}},
	KindRisk:               {func() Evidence { return new(Risk) }, []string{"risk"}},
	KindExchange:           {func() Evidence { return new(DeviceCheck) }, []string{"exchange", "deviceCheck"}},
}

// finish sets what the status alone says.
func (d *Decision) finish() error {
	d.Entitled = d.document.OK()
	return nil
}

// finish reads the claims, which stand beside the finding.
func (t *Triage) finish() error {
	claims := new(Claims)
	there, err := factsAt(t.document, claims, "claimed")
	if there {
		t.Claimed = claims
	}
	return err
}

// WorthVerifying says whether to look the blob up, verify it, and only then decide.
func (t *Triage) WorthVerifying() bool {
	return t.document != nil && t.document.status.Family() == ErrPending
}

// Status is the outcome: "pending.triage.unverified", "rejected.triage.cracker" …
// Its HTTPStatus is what to answer the client when it ends here.
func (t *Triage) Status() Status { return statusOf(t.document) }

// Allowed says whether the verdict is allow. False for any other.
func (r *Risk) Allowed() bool { return r.document != nil && r.document.OK() }

// Status is the outcome: "ok", "rejected.risk.limited" … Its HTTPStatus is what to
// answer the client: 200, 401 step-up, 403 deny, 429 limited.
func (r *Risk) Status() Status { return statusOf(r.document) }

// statusOf is the status of a document; that of a bug for facts without one.
func statusOf(document *Document) Status {
	if document == nil {
		return internalBug
	}
	return document.status
}
