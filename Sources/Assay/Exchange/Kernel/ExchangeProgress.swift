/// The state of an exchange as its list of checks reports it.
enum ExchangeProgress {
  /// A step is open: no usable response has arrived yet.
  case started
  case accepted
  case refused(ExchangeCheck)
  /// The call was wrong and changed nothing.
  case misused(ExchangeCheck)

  var checks: Checks<ExchangeCheck> {
    var checks = Checks<ExchangeCheck>()
    checks.enter(.request)
    checks.enter(.evidence)
    switch self {
    case .started:
      checks.skip(.answer, .noInput)
      checks.skip(.result, .noInput)
    case .accepted, .refused(.result), .refused(.request), .refused(.evidence):
      checks.enter(.answer)
      checks.enter(.result)
    case .refused(.answer): checks.enter(.answer)
    case .misused:
      checks.skip(.result, .noInput)
      checks.enter(.answer)
    }
    return checks
  }
}
