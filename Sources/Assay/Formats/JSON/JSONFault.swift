/// The reason why the strict reader refuses a text (JWS-6).
struct JSONFault: Error, Equatable {
  enum Reason: Equatable {
    case utf8, bom, syntax, trailing, duplicateName, nul, notObject
    case depth, members, elements, name, number
  }
  let reason: Reason
  /// Byte offset in the text.
  let offset: Int

  var status: Status {
    switch reason {
    case .utf8: return .malformedJsonUtf8
    case .bom: return .malformedJsonBom
    case .syntax: return .malformedJsonSyntax
    case .trailing: return .malformedJsonTrailing
    case .duplicateName: return .malformedJsonDuplicateName
    case .nul: return .malformedJsonNul
    case .notObject: return .malformedJsonNotObject
    case .depth: return .tooLargeJsonDepth
    case .members: return .tooLargeJsonMembers
    case .elements: return .tooLargeJsonElements
    case .name: return .tooLargeJsonName
    case .number: return .tooLargeJsonNumber
    }
  }
}
