/// How trustworthy the source of a fact is (DCD-2).
enum EvidenceClass: Sendable, Equatable {
  case signed
  case appleAnswer

  var name: StaticString {
    switch self {
    case .signed: return "signed"
    case .appleAnswer: return "apple-answer"
    }
  }
}
