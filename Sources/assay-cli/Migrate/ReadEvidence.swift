import Assay

/// What a row's evidence turns out to be (MIG-20, MIG-22).
enum ReadEvidence {
  case verified(Document, kind: String)
  /// Refused, with the name of the status and where.
  case refused(status: String, at: String, message: String)
}
