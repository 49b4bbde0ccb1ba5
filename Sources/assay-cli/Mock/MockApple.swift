import AssayAuthority
import Synchronization

/// Serves requests from any number of connections.
final class MockApple: HTTPService {
  private let state: Mutex<MockState>

  init(_ state: MockState) { self.state = Mutex(state) }

  /// Calls `body` with exclusive access to the state.
  func locked<Result: Sendable, Fault: Error>(
    _ body: (inout MockState) throws(Fault) -> Result
  ) throws(Fault) -> Result {
    try state.withLock { (state) throws(Fault) -> Result in try body(&state) }
  }

  /// Returns the response to a request, and the fault with which to deliver it.
  func answer(_ request: HTTPRequest) -> (HTTPResponse, MockFault) {
    if MockControl.isMeant(request) { return (control(request), MockFault()) }
    let outcome = locked { state -> (HTTPResponse, MockFault) in
      let fault = state.script.fault(for: request) ?? MockFault()
      let own = MockRouter.answer(request, &state, fault)
      let answer = fault.changed(own, isStore: MockRouter.isStore(request))
      let isSilent = fault.isReset || fault.isRefused
      state.note(request, status: isSilent ? 0 : answer.status)
      return (answer, fault)
    }
    if request.path == "/inApps/v1/notifications/test" { NotificationPost.sendTests(self) }
    return outcome
  }

  private func control(_ request: HTTPRequest) -> HTTPResponse {
    if request.method == "POST", request.path == "/play/notify" {
      return NotificationPost(player: self, request: request).answer()
    }
    return locked { state in MockControl(request, state.authority).answer(&state) }
  }
}
