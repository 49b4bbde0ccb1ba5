import testing from "./testing.cjs";

export const { Authority, MintError, MockApple, MockError, program } = testing;
export default testing;
