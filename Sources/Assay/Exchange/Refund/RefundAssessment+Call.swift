extension RefundAssessment {
  /// `assess-refund`: decides what to answer to Apple's question about a refund
  /// (docs/spec/refund-answers.md §2).
  static func document(_ context: OperationContext) -> Document {
    let assessment: RefundAssessment
    do throws(Refusal) {
      assessment = RefundAssessment(
        try RefundCase(try context.request.required("case")),
        try RefundObservations(try context.request.required("observations")),
        context.configuration.refunds, nowMs: context.nowMs)
    } catch {
      return context.answer.refused(error)
    }
    func warn(_ writer: inout JSONWriter) { Warning.write(assessment.warnings, &writer) }
    func write(_ writer: inout JSONWriter) {
      writer.name("refund")
      assessment.write(&writer)
    }
    guard let status = assessment.answer.refusal else {
      return context.answer.done(room: 2048, warnings: warn, write)
    }
    return context.answer.refused(Refusal(status, "RFA-12"), write, warnings: warn)
  }
}
