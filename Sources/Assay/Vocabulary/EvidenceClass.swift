/// The kind of source from which a fact comes, which decides how far it is trusted (DCD-2).
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
