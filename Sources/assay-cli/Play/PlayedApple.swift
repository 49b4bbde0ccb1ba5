import AssayAuthority
import Synchronization

/// Answers requests, from however many connections.
final class PlayedApple: Sendable {
  private let state: Mutex<PlayState>

  init(_ state: PlayState) { self.state = Mutex(state) }

  /// Nobody else has the state meanwhile.
  func locked<Result: Sendable, Fault: Error>(
    _ body: (inout PlayState) throws(Fault) -> Result
  ) throws(Fault) -> Result {
    try state.withLock { (state) throws(Fault) -> Result in try body(&state) }
  }

  /// The answer to a request, and how badly to deliver it.
  func answer(_ request: HTTPRequest) -> (HTTPAnswer, PlayFault) {
    if PlayControl.isMeant(request) { return (control(request), PlayFault()) }
    let outcome = locked { state -> (HTTPAnswer, PlayFault) in
      let fault = state.script.fault(for: request) ?? PlayFault()
      let own = PlayRouter.answer(request, &state, fault)
      let answer = fault.changed(own, isStore: PlayRouter.isStore(request))
      let isSilent = fault.isReset || fault.isRefused
      state.note(request, status: isSilent ? 0 : answer.status)
      return (answer, fault)
    }
    if request.path == "/inApps/v1/notifications/test" { NotificationPost.sendTests(self) }
    return outcome
  }

  private func control(_ request: HTTPRequest) -> HTTPAnswer {
    if request.method == "POST", request.path == "/play/notify" {
      return NotificationPost(player: self, request: request).answer()
    }
    return locked { state in PlayControl(request, state.authority).answer(&state) }
  }
}
